import { type ServerResponse, STATUS_CODES } from 'node:http'
import { TLSSocket } from 'node:tls'
import type { VendorError } from '../core/dialects/dialect.ts'
import type { VendorName } from '../core/dialects/lookup.ts'
import type { AnswerFraming } from './answer-head.ts'
import { vendorErrorBody, vendorErrorEvent } from './vendor-errors.ts'

/**
 * How an exchange ended: the upstream's answer was passed on to its end, or what kept it from that.
 */
export type ExchangeOutcome =
  | 'answered'
  /**
   * We refused before anything was forwarded: a target that is not allowed, or the service is
   * closing.
   */
  | 'refused'
  /** No connection to the upstream. */
  | 'unreachable'
  /** The upstream broke off, or what it sent is not HTTP. */
  | 'broken'
  | 'timed_out'
  /** The client went away, or did not send its body in time. */
  | 'aborted'
  /** The service ended it. */
  | 'closed'
  /** A bug of ours. */
  | 'failed'

/**
 * What ended an exchange other than its answer: the outcome, and the answer to the client if it
 * still can be.
 */
export interface Failure extends VendorError {
  readonly outcome: Exclude<ExchangeOutcome, 'answered'>
}

/** Every failure of forwarding. */
export const FAILURES = {
  target: {
    outcome: 'refused',
    status: 400,
    code: 'invalid_target',
    message: 'The request target cannot be forwarded',
  },
  head: {
    outcome: 'refused',
    status: 400,
    code: 'invalid_head',
    message: 'The head of the request cannot be forwarded',
  },
  internal: {
    outcome: 'failed',
    status: 500,
    code: 'internal',
    message: 'The proxy failed; its log has the cause',
  },
  closing: {
    outcome: 'closed',
    status: 503,
    code: 'shutting_down',
    message: 'The proxy is shutting down; try again',
  },
  unreachable: {
    outcome: 'unreachable',
    status: 502,
    code: 'upstream_unreachable',
    message: 'The proxy could not connect to the upstream',
  },
  broken: {
    outcome: 'broken',
    status: 502,
    code: 'upstream_broken',
    message: 'The upstream ended the connection before its answer was complete',
  },
  malformed: {
    outcome: 'broken',
    status: 502,
    code: 'upstream_malformed',
    message: 'The upstream sent an answer that cannot be passed on',
  },
  connectTimeout: {
    outcome: 'timed_out',
    status: 504,
    code: 'upstream_connect_timeout',
    message: 'The proxy could not connect to the upstream in time',
  },
  timeout: {
    outcome: 'timed_out',
    status: 504,
    code: 'upstream_timeout',
    message: 'The upstream did not answer in time',
  },
  slowClient: {
    outcome: 'aborted',
    status: 408,
    code: 'request_timeout',
    message: 'The request was not sent in time',
  },
} as const satisfies Record<string, Failure>

export interface ReportOptions {
  readonly vendor: VendorName
  readonly extraHeaders: Readonly<Record<string, string>>
  /** The framing of the head that was sent, if one was. */
  readonly framing: AnswerFraming | null
}

/**
 * Reports a failure, so that the client does not mistake a part for the whole answer. Before the
 * head it sends the vendor's error. Between two events of a stream it sends the vendor's error
 * event. Otherwise it breaks the connection.
 */
export function reportFailure(
  outgoing: ServerResponse,
  failure: Failure,
  { vendor, extraHeaders, framing }: ReportOptions,
): void {
  if (!outgoing.headersSent) {
    const body = vendorErrorBody(vendor, failure)
    outgoing.sendDate = true
    // The reason phrase is given, since a head that could not be written leaves its own.
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
  const endIsMarked = sized || outgoing.chunkedEncoding
  if (endIsMarked || socket === null || socket instanceof TLSSocket) outgoing.destroy()
  else socket.resetAndDestroy()
}
