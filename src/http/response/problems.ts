import { ERRORS, type Problem } from '../../core/base/errors.ts'
import { problemBody } from '../../core/contract/problem.ts'
import type { VendorError } from '../../core/dialects/dialect.ts'
import type { VendorName } from '../../core/dialects/lookup.ts'
import { errorEvent, vendorErrorBody } from '../../proxy/vendor-errors.ts'

/**
 * An `application/problem+json` response (RFC 9457).
 * @param headers of every answer; given here, because adding them to a response that stands costs
 * more than all else of a refusal, and refusals must be cheap
 */
export function problemResponse(
  problem: Problem,
  requestId: string | undefined,
  headers: Record<string, string>,
): Response {
  headers['content-type'] = 'application/problem+json'
  if (problem.retry_after_s !== undefined) headers['retry-after'] = String(problem.retry_after_s)
  if (problem.code === 'unauthorized') headers['www-authenticate'] = 'Bearer realm="haversack"'
  return new Response(JSON.stringify(problemBody(problem, requestId)), {
    status: ERRORS[problem.code].status,
    headers,
  })
}

/** A problem of ours in the form that a client of the vendor's API expects. */
export function vendorResponse(
  vendor: VendorName,
  problem: Problem,
  headers: Readonly<Record<string, string>>,
): Response {
  const { error, retry } = vendorError(problem)
  return new Response(vendorErrorBody(vendor, error), {
    status: error.status,
    headers: { 'content-type': 'application/json', ...retry, ...headers },
  })
}

/** The same as an event over a WebSocket. */
export function vendorEvent(vendor: VendorName, problem: Problem): Buffer {
  const { error, retry } = vendorError(problem)
  return errorEvent(vendor, error, retry)
}

function vendorError(problem: Problem): { error: VendorError; retry: Record<string, string> } {
  const { status, title, detail = title, code } = problemBody(problem)
  const retry: Record<string, string> =
    problem.retry_after_s === undefined ? {} : { 'retry-after': `${problem.retry_after_s}` }
  return { error: { status, code, message: `Haversack: ${detail}` }, retry }
}
