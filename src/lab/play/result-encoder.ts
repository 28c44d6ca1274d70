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

/** Encodes the results of one log as the service would have, with its sessions. */
export interface ResultEncoder {
  /** @throws AppError as `encode` does */
  encode(request: ResultRequest): EncodeAnswer
  /** Nothing older of the session is referred to from now on. */
  compact(session: string): void
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

/**
 * Sessions in memory of fixed size. Originals are never fetched here, so only the data to find
 * references is kept.
 * @param logBytes size of the log, which bounds what there is to remember; `Infinity` if it is not
 * known
 */
export function createResultEncoder(context: OperationContext, logBytes: number): ResultEncoder {
  const bodyBytes = Math.min(Math.max(MIN_BODY_BYTES, 2 * logBytes), MAX_BODY_BYTES)
  const maxEntries = Math.min(Math.max(MIN_ENTRIES, logBytes), MAX_ENTRIES)
  const size = { maxSessions: MAX_SESSIONS, maxEntries }
  const sessions = attachSessions(createSharedSessions(size, bodyBytes), { owner: MAIN_OWNER })
  const desk = createSessionDesk(sessions.index)
  const encodeContext = {
    ...context,
    keepsOriginals: true,
    // Nothing here depends on the time.
    sessions: { ...sessions, tenant: TENANT, nowMs: 0 },
  }
  return {
    encode(request) {
      const { answer, keep = [] } = encodeOperation.run(request, encodeContext)
      for (const { ticket } of keep) {
        if (ticket !== undefined) commitBody(sessions, ticket, true)
      }
      return answer
    },
    compact(session) {
      desk.compact(TENANT, session)
    },
  }
}

/** `null` if the request is one that the service refuses. */
export function encodeOrNull(request: ResultRequest, encoder: ResultEncoder): EncodeAnswer | null {
  try {
    return encoder.encode(request)
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}
