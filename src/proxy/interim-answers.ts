import type { IncomingMessage, InformationEvent, ServerResponse } from 'node:http'
import { answerHeaders } from './headers.ts'

/**
 * Interim answers that are passed on for one request, in bytes of their heads. Later ones are
 * dropped: the client does not wait for them, and for a client that does not read they would have
 * to be kept here.
 */
const MAX_BYTES = 64 * 1024

/** Passes interim answers (1xx) on, if the client's protocol and this Node have them. */
export class InterimAnswers {
  readonly #outgoing: ServerResponse
  #left: number

  constructor(incoming: IncomingMessage, outgoing: ServerResponse) {
    this.#outgoing = outgoing
    const areKnown = incoming.httpVersion === '1.1' && 'writeInformation' in outgoing
    this.#left = areKnown ? MAX_BYTES : 0
  }

  pass({ statusCode, statusMessage, rawHeaders }: InformationEvent): void {
    // 100 is about the body, and has an event of its own.
    if (statusCode === 100 || this.#outgoing.headersSent || this.#left <= 0) return
    this.#left -= STATUS_LINE_BYTES + statusMessage.length
    for (const text of rawHeaders) this.#left -= text.length + SEPARATOR_BYTES
    if (this.#left >= 0) {
      this.#outgoing.writeInformation(statusCode, answerHeaders(rawHeaders, {}))
    }
  }
}

/** `HTTP/1.1 103 `, its line end and the empty line. */
const STATUS_LINE_BYTES = 17
/** `: ` or a line end. */
const SEPARATOR_BYTES = 2
