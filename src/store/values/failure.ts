import { AppError, type ErrorCode, type Problem } from '../../core/base/errors.ts'
import type { Failure, FailureReason, Result } from '../store.ts'

/** The code that a client sees for each reason. */
const CODES: Readonly<Record<FailureReason, ErrorCode>> = {
  not_found: 'not_found',
  gone: 'gone',
  ambiguous: 'ambiguous',
  invalid_request: 'invalid_request',
  // Two requests changed the same thing at once; trying again is right.
  conflict: 'overloaded',
  too_large: 'payload_too_large',
  busy: 'overloaded',
  full: 'overloaded',
  quota: 'overloaded',
  read_only: 'overloaded',
  unavailable: 'overloaded',
  failed: 'internal',
  lost: 'worker_lost',
  closed: 'overloaded',
}

/**
 * Seconds after which a refused client may try again; space comes back more slowly than a queue's
 * place.
 */
const RETRY_AFTER_S: Partial<Record<FailureReason, number>> = {
  conflict: 1,
  busy: 1,
  closed: 1,
  unavailable: 5,
  full: 30,
  quota: 30,
  read_only: 30,
}

/** The problem that a client gets for a failure of the store. */
export function failureProblem(failure: Failure): Problem {
  const seconds = RETRY_AFTER_S[failure.reason]
  return {
    code: CODES[failure.reason],
    detail: failure.detail,
    ...(failure.errors === undefined ? {} : { errors: failure.errors }),
    ...(seconds === undefined ? {} : { retry_after_s: seconds }),
  }
}

/** @throws AppError for a failure */
export function valueOr<T>(result: Result<T>): T {
  if (result.ok) return result
  throw AppError.of(failureProblem(result))
}

export function fail(reason: FailureReason, detail: string): Failure {
  return { ok: false, reason, detail }
}

/**
 * The failure of a reference to a body that was kept.
 * @param at when it expired or was removed, in Unix milliseconds
 * @param isRemoved whether it is known to have expired, or may have made room for others
 */
export function goneFailure(ref: string, at: number, isRemoved: boolean): Failure {
  const how = isRemoved ? 'expired, or made room for others,' : 'expired'
  return fail('gone', `the original ${ref} ${how} at ${new Date(at).toISOString()}`)
}

/** The failure that an `AppError` of `src/core/parts` is returned as. */
export function partFailure(error: AppError): Failure {
  const { detail, extras } = error
  const { errors } = extras
  return {
    ok: false,
    reason: 'invalid_request',
    detail,
    ...(errors === undefined ? {} : { errors }),
  }
}
