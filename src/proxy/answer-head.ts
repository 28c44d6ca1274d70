import type { IncomingMessage, OutgoingMessage, ServerResponse } from 'node:http'
import { answerHeaders } from './headers.ts'

/** How the body of an answer is framed. */
export interface AnswerFraming {
  /** It has a `content-length`. */
  readonly sized: boolean
  /** For a stream of server-sent events to which another may be added. */
  readonly events: EventBoundary | null
}

export interface HeadOptions {
  /** Put after the upstream's headers. */
  readonly extra?: Readonly<Record<string, string>> | undefined
  /** The body is another one than the upstream's: not compressed, of this length if it is known. */
  readonly reframed?: { readonly length?: number | undefined }
}

/**
 * Writes the head of the upstream's `answer`, then the `extra` headers. Returns `null`, and
 * writes nothing, if it cannot be written or the client would understand it differently.
 */
export function writeAnswerHead(
  { httpVersion, method }: IncomingMessage,
  outgoing: ServerResponse,
  answer: IncomingMessage,
  { extra = {}, reframed }: HeadOptions,
): AnswerFraming | null {
  const { statusCode = 0, statusMessage = '', headers, rawHeaders } = answer
  // We asked for no other coding, and the client would not learn of it.
  if (!/^(?:chunked)?$/i.test(headers['transfer-encoding'] ?? '')) return null
  const sized = reframed ? reframed.length !== undefined : headers['content-length'] !== undefined
  const hasBody = method !== 'HEAD' && statusCode !== 204 && statusCode !== 304
  const trailers = hasBody && !sized && httpVersion === '1.1'
  try {
    outgoing.sendDate = false
    const options = { extra, trailers, ...(reframed && { reframed }) }
    outgoing.writeHead(statusCode, statusMessage, answerHeaders(rawHeaders, options))
  } catch {
    return null
  }
  const isEvents = /^text\/event-stream\b/i.test(headers['content-type'] ?? '')
  const isPlain = reframed !== undefined || headers['content-encoding'] === undefined
  const mayBeAdded = isEvents && !sized && isPlain
  return { sized, events: mayBeAdded ? createEventBoundary() : null }
}

/** A blank line ends an event, whatever the line ends are. */
const CR = 13
const LF = 10

/**
 * Follows a stream of server-sent events, to know whether another event may begin after what was
 * passed.
 */
export interface EventBoundary {
  follow(chunk: Uint8Array): void
  readonly atBoundary: boolean
}

/** Looks at the last four bytes only, however the stream is cut in chunks. */
export function createEventBoundary(): EventBoundary {
  /** The last bytes, newest in the lowest byte; starts as after a blank line. */
  let tail = (LF << 8) | LF
  return {
    follow(chunk) {
      for (const byte of chunk.subarray(-4)) tail = (tail << 8) | byte
    },
    get atBoundary() {
      const two = tail & 0xffff
      if (two === ((LF << 8) | LF) || two === ((CR << 8) | CR)) return true
      return tail === ((CR << 24) | (LF << 16) | (CR << 8) | LF)
    },
  }
}

/**
 * Sends the head of a message that has a body, if none of it has left yet. It does not use
 * `flushHeaders`, which writes the bytes above 0x7f of header values as UTF-8, two bytes for each.
 * An empty write has an encoding.
 */
export function flushHead(message: OutgoingMessage): void {
  message.write('', 'latin1')
}

/** Whether the head may be sent by Node at once, as it does with `Expect`: in UTF-8. */
export function isAscii(values: readonly string[]): boolean {
  return values.every(value => !/[\x80-\xff]/.test(value))
}
