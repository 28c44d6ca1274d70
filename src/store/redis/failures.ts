import type { Failure } from '../store.ts'
import { fail } from '../values/failure.ts'
import { ReplyTooLarge } from './reply-meter.ts'

/** What stands between us and an answer. */
export const UNREACHABLE = fail('unavailable', 'Redis cannot be reached')
export const TOO_LATE = fail('unavailable', 'Redis did not answer in time')
export const NOT_DURABLE = fail(
  'unavailable',
  'no replica of Redis has confirmed the write in time',
)
export const ALONE = fail(
  'unavailable',
  'most Sentinels cannot be reached, and no replica follows the primary: there may be another one',
)
export const FORGETFUL = fail('unavailable', 'Redis is another one, or has forgotten')
export const EVICTING = fail(
  'unavailable',
  'Redis may evict what hints need; its maxmemory-policy must be noeviction',
)
/** The server that two clusters use by mistake. */
export const ofCluster = (name: string) =>
  fail(
    'unavailable',
    `Redis belongs to the cluster ${JSON.stringify(name.slice(0, 64))}: see store.redis.cluster`,
  )
export const NO_REDIS = fail('unavailable', 'the server at this address is no Redis')
export const STRANGE = fail('failed', 'Redis answered in a shape that is not expected')
export const OVERLOADED = fail('busy', 'too many calls wait for Redis')
export const CLOSED = fail('closed', 'the store is closed')

/** The server does not answer for data now; another one may. */
const AWAY = /^(?:READONLY|MASTERDOWN|LOADING|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|MISCONF|UNBLOCKED)/
const NO_LOGIN = /^(?:NOAUTH|WRONGPASS|NOPERM)/
/** The server answers, and refuses writes until its operator changes that. */
const REFUSING = /^(?:READONLY|MISCONF)/
const MISSING_FUNCTION = /Function not found/
/** Node's and the client's own errors: sockets, closed clients. */
const OF_CONNECTION = /Socket|socket|ECONN|ENOTFOUND|EPIPE|client is (?:closed|offline)|Disconnects/

/** Codes of Node and OpenSSL for a certificate that is not accepted. */
const OF_CERTIFICATE =
  /^(?:CERT_|ERR_TLS_CERT|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO_|HOSTNAME_MISMATCH)/

/** Whether the server lacks the library; it was flushed, or is another server. */
export function isMissingFunction(error: unknown): boolean {
  return error instanceof Error && MISSING_FUNCTION.test(error.message)
}

/** Whether the server, not the call, is the reason: such failures open the breaker. */
export function isAway({ reason }: Failure): boolean {
  return reason === 'unavailable'
}

/** Failures that are answers of the server, by how long they last. */
const refused = new WeakMap<Failure, 'until_changed' | 'until_moved'>()

function refusalOf(failure: Failure, lasts: 'until_changed' | 'until_moved'): Failure {
  refused.set(failure, lasts)
  return failure
}

/**
 * Whether the server answered that it takes no calls, and will not by itself.
 * @param mayMove whether another server may take its place, which takes calls
 */
export function isLastingRefusal(failure: Failure, mayMove: boolean): boolean {
  const lasts = refused.get(failure)
  return lasts === 'until_changed' || (lasts === 'until_moved' && !mayMove)
}

/** The failure that an error of the client or the server is returned as. Holds no content. */
export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error)
  if (message.startsWith('OOM')) return fail('full', 'Redis has reached its maxmemory')
  if (message.startsWith('BUSY')) return fail('busy', 'Redis runs a long script')
  if (AWAY.test(message)) {
    const failure = fail('unavailable', `Redis takes no calls: ${firstWord(message)}`)
    return REFUSING.test(message) ? refusalOf(failure, 'until_moved') : failure
  }
  if (NO_LOGIN.test(message)) {
    const failure = fail('unavailable', `Redis refused the user: ${firstWord(message)}`)
    return refusalOf(failure, 'until_changed')
  }
  if (error instanceof ReplyTooLarge) return fail('unavailable', error.message)
  const code = codeOf(error)
  if (OF_CERTIFICATE.test(code))
    return fail('unavailable', `the certificate of Redis is not valid: ${code}`)
  if (OF_CONNECTION.test(message) || isSystemError(error)) return UNREACHABLE
  return fail('failed', `Redis answered with an error: ${firstWord(message)}`)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error
}

/** The code of an error's text; the rest may hold names of keys. */
function firstWord(message: string): string {
  return /^[A-Z]{2,}/.exec(message)?.[0] ?? 'ERR'
}

/** The failure of a write that a function refused. */
export function refusal(outcome: string): Failure {
  switch (outcome) {
    case 'ambiguous':
      return fail('ambiguous', 'another body has the same first digits')
    case 'quota':
      return fail('quota', 'live originals and records take all the space')
    case 'busy':
      return fail('busy', 'room is being made, try again')
    case 'conflict':
      return fail('conflict', 'the record was changed by another')
    default:
      return fail('failed', 'Redis has a value that this version cannot read')
  }
}
