import { ERRORS, type Problem } from '../../core/base/errors.ts'
import { problemBody } from '../../core/contract/problem.ts'

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
