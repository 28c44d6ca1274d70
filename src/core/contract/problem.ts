import { z } from 'zod'
import { ERRORS, type ErrorCode, type Problem } from '../base/errors.ts'

/**
 * An RFC 9457 body. `type` is a relative reference: the service has no home on the web to point to.
 */
export const problemSchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]),
  request_id: z.string().optional(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  minimum_tokens: z.int().optional(),
})

/** The body of a problem; `retry_after_s` travels as a header instead. */
export function problemBody(problem: Problem, requestId?: string): z.output<typeof problemSchema> {
  const { code, detail, errors, minimum_tokens } = problem
  return {
    type: `/problems/${code}`,
    title: ERRORS[code].title,
    status: ERRORS[code].status,
    detail,
    code,
    ...(requestId === undefined ? {} : { request_id: requestId }),
    ...(errors === undefined ? {} : { errors: [...errors] }),
    ...(minimum_tokens === undefined ? {} : { minimum_tokens }),
  }
}
