import { randomUUID } from 'node:crypto'
import { encodeOperation } from '../../core/operations/encode.ts'
import type { OperationContext } from '../../core/operations/operation.ts'
import { validate } from '../../core/requests/validate.ts'
import { toText } from '../../core/transport/text-bytes.ts'
import { identityOf } from '../../core/verify/agent-contexts.ts'
import { type DecodeAnswer, decode, type EncodeAnswer, type EncodeRequest } from '../../index.ts'
import { type ServiceClient, ServiceProblem } from '../service-client.ts'

/** Something that encodes, decodes and keeps: this process, or a service. */
export interface Player {
  encode(request: EncodeRequest): Promise<EncodeAnswer>
  /** @param session of the answer, where it may refer to earlier ones */
  decode(content: string, format: string, session?: string): Promise<DecodeAnswer>
  /** The text that an id stands for, or `null`. */
  redeem(id: string, session?: string): Promise<string | null>
  /** The agent's context was compacted. Resolves to whether that has an effect here. */
  compact(session: string): Promise<boolean>
  /** What a recorded session is called here. */
  nameOf(session: string): string
}

/** Digits of the SHA-256 that an original is fetched by. */
const HASH_DIGITS = 24

/** The pipeline in this thread, which keeps originals as long as it lives. Sessions have no effect. */
export function inProcessPlayer(context: OperationContext): Player {
  const originals = new Map<string, string>()
  return {
    async encode(request) {
      const asked = validate(encodeOperation.request, request)
      const { answer, keep = [] } = encodeOperation.run(asked, { ...context, keepsOriginals: true })
      for (const kept of keep) {
        const text = toText(kept)
        originals.set(identityOf(text).slice(0, HASH_DIGITS), text)
      }
      return answer
    },
    decode: async (content, format) => decode({ content, format }),
    redeem: async id => originals.get(id) ?? null,
    compact: async () => false,
    nameOf: session => session,
  }
}

/** Longest name of a session that leaves room for what tells this replay from others. */
const SESSION_CHARS = 240

/** A running service. Its sessions are this replay's own, so that what it kept of an earlier one has no effect. */
export function servicePlayer(service: ServiceClient): Player {
  const run = randomUUID().slice(0, 8)
  return {
    encode: request => service.post('/v1/encode', request),
    decode: (content, format, session) =>
      service.post('/v1/decode', {
        content,
        format,
        ...(session === undefined ? {} : { session }),
      }),
    async redeem(id, session) {
      const query = session === undefined ? {} : { session }
      const answer = await unlessMissing(
        service.get<{ original_content: string }>(`/v1/retrieve/${id}`, query),
      )
      return answer?.original_content ?? null
    },
    async compact(session) {
      const path = `/v1/sessions/${encodeURIComponent(session)}/compaction`
      return (await unlessMissing(service.post(path, {}))) !== null
    },
    nameOf: session => `${session.slice(0, SESSION_CHARS)}#${run}`,
  }
}

/** `null` where the service says that there is no such thing, or no more. */
async function unlessMissing<Answer>(asked: Promise<Answer>): Promise<Answer | null> {
  try {
    return await asked
  } catch (error) {
    const isMissing = error instanceof ServiceProblem && [404, 409, 410].includes(error.status)
    if (isMissing) return null
    throw error
  }
}
