import type { IncomingMessage, ServerResponse } from 'node:http'
import { createEventBoundary, type EventBoundary } from './event-boundary.ts'
import { answerHeaders } from './headers.ts'

/** What the head of an answer says about what follows. */
export interface AnswerFraming {
  /** It says how long it is. */
  readonly sized: boolean
  /** For a stream of server-sent events to which another may be added. */
  readonly events: EventBoundary | null
}

/**
 * Writes the head of the upstream's `answer`, `extra` headers behind its own. `null` where it
 * cannot be written or would be understood otherwise by the client; nothing was written then.
 */
export function writeAnswerHead(
  { httpVersion, method }: IncomingMessage,
  outgoing: ServerResponse,
  answer: IncomingMessage,
  extra: Readonly<Record<string, string>> = {},
): AnswerFraming | null {
  const { statusCode = 0, statusMessage = '', headers, rawHeaders } = answer
  // No other coding was asked for, and the client would not learn of it.
  if (!/^(?:chunked)?$/i.test(headers['transfer-encoding'] ?? '')) return null
  const sized = headers['content-length'] !== undefined
  const hasBody = method !== 'HEAD' && statusCode !== 204 && statusCode !== 304
  const trailers = hasBody && !sized && httpVersion === '1.1'
  try {
    outgoing.sendDate = false
    outgoing.writeHead(statusCode, statusMessage, answerHeaders(rawHeaders, { extra, trailers }))
  } catch {
    return null
  }
  const isEvents = /^text\/event-stream\b/i.test(headers['content-type'] ?? '')
  const mayBeAdded = isEvents && !sized && headers['content-encoding'] === undefined
  return { sized, events: mayBeAdded ? createEventBoundary() : null }
}
