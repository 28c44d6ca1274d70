import type { Problem } from '../../core/base/errors.ts'
import { problemBody } from '../../core/contract/problem.ts'
import { type Vendor, vendorErrorBody } from '../../proxy/vendor-errors.ts'

/** A problem of ours in the form that a client of the vendor's API expects. */
export function vendorResponse(
  vendor: Vendor,
  problem: Problem,
  headers: Readonly<Record<string, string>>,
): Response {
  const { status, title, detail = title, code } = problemBody(problem)
  const retry =
    problem.retry_after_s === undefined ? {} : { 'retry-after': `${problem.retry_after_s}` }
  // The answer must name the protocol to come over instead (RFC 9110 §15.5.22).
  const upgrade =
    code === 'upgrade_required' ? { upgrade: 'HTTP/1.1', connection: 'upgrade, close' } : {}
  return new Response(vendorErrorBody(vendor, { status, code, message: `Haversack: ${detail}` }), {
    status,
    headers: { 'content-type': 'application/json', ...retry, ...upgrade, ...headers },
  })
}
