import { AppError } from '../../core/base/errors.ts'
import type { EncodeAnswer, EncodeRequest } from '../../core/contract/encode.ts'
import { encodeOperation } from '../../core/operations/encode.ts'
import type { OperationContext } from '../../core/operations/operation.ts'
import { createSessionDesk } from '../../core/operations/session-desk.ts'
import { commitBody } from '../../core/sessions/turn/remember.ts'
import {
  attachSessions,
  createSharedSessions,
  MAIN_OWNER,
} from '../../core/sessions/turn/shared-sessions.ts'
import type { MinedResult } from '../logs/read-log.ts'

/** A request with its content in it. */
export type ResultRequest = EncodeRequest & { readonly content: string }

/** What the service is told of a recorded result. */
interface RecordedFields {
  readonly text: string
  readonly tool?: string | undefined
  readonly session?: string | undefined
  readonly args?: unknown
  readonly call_id?: string | undefined
  readonly is_error?: boolean | undefined
  readonly is_sidechain?: boolean | undefined
}

/** The request by which the service is asked to encode a recorded result. */
export function requestOf(
  { text, tool, session, args, call_id, is_error, is_sidechain }: RecordedFields,
  more: Omit<EncodeRequest, 'content'>,
): ResultRequest {
  return {
    content: text,
    ...(tool !== undefined && { tool }),
    ...(session !== undefined && { session }),
    ...(args !== undefined && { args }),
    ...(call_id !== undefined && { tool_call_id: call_id }),
    ...(is_error !== undefined && { is_error }),
    ...(is_sidechain !== undefined && { is_sidechain }),
    ...more,
  }
}

const TENANT = 'mine'
const MIB = 1024 * 1024
/** A log of an agent has one session; a recording has more. */
const MAX_SESSIONS = 1_000
/**
 * Fewer for small logs, of which there are many: no line is shorter than 32 bytes, and a session
 * has one of 32 parts of the index.
 */
const MAX_ENTRIES = 50_000
const MIN_ENTRIES = 1_000
/** Memory for texts that references to lines are made from. */
const MIN_BODY_BYTES = 64 * 1024
const MAX_BODY_BYTES = 64 * MIB

/** A recorded result at its place in its session. */
interface PlacedResult
  extends Pick<MinedResult, 'tool' | 'args' | 'text' | 'call_id' | 'is_error' | 'agent'> {
  readonly session: string | undefined
  /** Whether its context was compacted since the result before. */
  readonly isCompacted: boolean
}

/**
 * Encodes the results of one log as the service would have, with its sessions, in memory of fixed
 * size. Originals are never fetched here, so only the data to find references is kept.
 */
export class ResultEncoder {
  readonly #context: Parameters<typeof encodeOperation.run>[1]
  readonly #sessions: ReturnType<typeof attachSessions>
  readonly #desk: ReturnType<typeof createSessionDesk>

  /** @param logBytes what there is to remember at most; `Infinity` if that is not known */
  constructor(context: OperationContext, logBytes: number) {
    const bodyBytes = Math.min(Math.max(MIN_BODY_BYTES, 2 * logBytes), MAX_BODY_BYTES)
    const maxEntries = Math.min(Math.max(MIN_ENTRIES, logBytes), MAX_ENTRIES)
    const size = { maxSessions: MAX_SESSIONS, maxEntries }
    this.#sessions = attachSessions(createSharedSessions(size, bodyBytes), { owner: MAIN_OWNER })
    this.#desk = createSessionDesk(this.#sessions.index)
    // Nothing here depends on the time.
    const sessions = { ...this.#sessions, tenant: TENANT, nowMs: 0 }
    this.#context = { ...context, keepsOriginals: true, sessions }
  }

  /** Returns `null` if the service refuses the result. */
  encode(
    { agent, session, isCompacted, ...result }: PlacedResult,
    more: Omit<EncodeRequest, 'content'>,
  ): EncodeAnswer | null {
    // A sub-agent's results are in no session, as with `is_sidechain` at the service.
    const is_sidechain = agent !== undefined
    if (session !== undefined && isCompacted && !is_sidechain) this.#desk.compact(TENANT, session)
    try {
      const request = requestOf({ ...result, session, is_sidechain }, more)
      const { answer, keep = [] } = encodeOperation.run(request, this.#context)
      for (const { ticket } of keep) {
        if (ticket !== undefined) commitBody(this.#sessions, ticket, true)
      }
      return answer
    } catch (error) {
      if (error instanceof AppError) return null
      throw error
    }
  }
}
