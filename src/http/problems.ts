import { problemBody } from '../core/requests/problem.ts'
import { AppError, ERRORS, type Problem } from '../errors.ts'

/**
 * An `application/problem+json` response (RFC 9457).
 * @param frame headers that every answer carries, where the route sets them itself
 */
export function problemResponse(
  problem: Problem,
  requestId: string,
  frame: Readonly<Record<string, string>> = {},
): Response {
  const headers: Record<string, string> = { ...frame, 'content-type': 'application/problem+json' }
  if (problem.retry_after_s !== undefined) headers['retry-after'] = String(problem.retry_after_s)
  return new Response(JSON.stringify(problemBody(problem, requestId)), {
    status: ERRORS[problem.code].status,
    headers,
  })
}

/** What a client is told of a thrown error; `null` for a bug, whose text stays with us. */
export function toProblem(error: unknown): Problem | null {
  return error instanceof AppError ? error.toProblem() : null
}
