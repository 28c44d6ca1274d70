import type { VendorError } from './vendor-errors.ts'

/**
 * How an exchange ended: the upstream's answer was passed on to its end, or what kept it from that.
 */
export type Outcome =
  | 'answered'
  /** Ours, before anything was forwarded: a target that must not be, or the service is closing. */
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
  readonly outcome: Exclude<Outcome, 'answered'>
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
