import { randomUUID } from 'node:crypto'
import { type ServiceClient, ServiceProblem } from '../../console/service-client.ts'
import { LOCAL_TENANT } from '../../core/base/tenant-name.ts'
import type { OperationContext } from '../../core/operations/operation.ts'
import type { DecodeAnswer, EncodeAnswer, EncodeRequest } from '../../index.ts'
import { createLocalSessions } from '../../library/local-sessions.ts'

/** Something that encodes, decodes and keeps: this process, or a service. */
export interface Player {
  encode(request: EncodeRequest): Promise<EncodeAnswer>
  /** @param session of the answer, if it may refer to earlier ones */
  decode(content: string, format: string, session?: string): Promise<DecodeAnswer>
  /** The text that an id represents, or `null`. */
  retrieve(id: string, session?: string): Promise<string | null>
  /** The agent's context was compacted. Resolves to whether that has an effect here. */
  compact(session: string): Promise<boolean>
  /** The name of a recorded session at this player. */
  nameOf(session: string): string
}

/** Memory for what sessions have seen, enough for recordings of some hundred megabytes. */
const BODY_BYTES = 256 * 1024 * 1024

/** The pipeline in this thread, with sessions and originals that live as long as it does. */
export function inProcessPlayer(context: OperationContext): Player {
  const sessions = createLocalSessions(context, { bodyBytes: BODY_BYTES })
  return {
    encode: async request => sessions.encode(request),
    decode: async (content, format, session) =>
      sessions.decode({ content, format, ...(session === undefined ? {} : { session }) }),
    retrieve: async (id, session) => sessions.original(id, session),
    compact: async session => sessions.desk.compact(LOCAL_TENANT, session) !== null,
    nameOf: session => session,
  }
}

/** Longest name of a session that leaves room for what distinguishes this replay from others. */
const SESSION_CHARS = 240

/**
 * A running service. Its sessions are this replay's own, so that what it kept of an earlier one has
 * no effect.
 */
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
    retrieve: (id, session) => retrieveFrom(service, id, session),
    async compact(session) {
      const path = `/v1/sessions/${encodeURIComponent(session)}/compaction`
      try {
        await service.post(path, {})
        return true
      } catch (error) {
        // The service has no such session, or not any more.
        if (error instanceof ServiceProblem && [404, 409, 410].includes(error.status)) return false
        throw error
      }
    },
    nameOf: session => `${session.slice(0, SESSION_CHARS)}#${run}`,
  }
}

/** The text that an id represents at a service; `null` if it has none. */
export async function retrieveFrom(
  service: ServiceClient,
  id: string,
  session: string | undefined,
): Promise<string | null> {
  const query = session === undefined ? {} : { session }
  try {
    const path = `/v1/retrieve/${id}`
    return (await service.get<{ original_content: string }>(path, query)).original_content
  } catch (error) {
    if (error instanceof ServiceProblem && error.status !== 401 && error.status !== 403) return null
    throw error
  }
}
