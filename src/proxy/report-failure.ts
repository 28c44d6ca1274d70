import { type ServerResponse, STATUS_CODES } from 'node:http'
import { TLSSocket } from 'node:tls'
import type { AnswerFraming } from './answer-head.ts'
import type { Failure } from './failures.ts'
import { type Vendor, vendorErrorBody, vendorErrorEvent } from './vendor-errors.ts'

export interface ReportOptions {
  readonly vendor: Vendor
  readonly extraHeaders: Readonly<Record<string, string>>
  /** Of the head that was sent, if one was. */
  readonly framing: AnswerFraming | null
}

/**
 * Reports a failure to the client so that it cannot take what it got for a whole answer: before the
 * head with the vendor's error; in a stream of events, between two of them, with the vendor's error
 * event; else by breaking the connection.
 */
export function reportFailure(
  outgoing: ServerResponse,
  failure: Failure,
  { vendor, extraHeaders, framing }: ReportOptions,
): void {
  if (!outgoing.headersSent) {
    const body = vendorErrorBody(vendor, failure)
    outgoing.sendDate = true
    // Named, since a head that could not be written leaves its reason phrase behind.
    outgoing.writeHead(failure.status, STATUS_CODES[failure.status], {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...extraHeaders,
    })
    outgoing.end(body)
  } else if (framing?.events?.atBoundary) outgoing.end(vendorErrorEvent(vendor, failure))
  else cut(outgoing, framing?.sized === true)
}

/** An answer whose end is the end of the connection looks whole unless the connection is reset. */
function cut(outgoing: ServerResponse, sized: boolean): void {
  const { socket } = outgoing
  const endIsTold = sized || outgoing.chunkedEncoding
  if (endIsTold || socket === null || socket instanceof TLSSocket) outgoing.destroy()
  else socket.resetAndDestroy()
}
