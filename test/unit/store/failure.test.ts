import { expect, test } from 'vitest'
import { AppError, ERRORS } from '../../../src/core/base/errors.ts'
import { fail, failureProblem, partFailure } from '../../../src/store/values/failure.ts'

test.each([
  ['not_found', 404, undefined],
  ['gone', 410, undefined],
  ['ambiguous', 409, undefined],
  ['invalid_request', 400, undefined],
  ['too_large', 413, undefined],
  ['busy', 503, 1],
  ['full', 503, 30],
  ['quota', 503, 30],
  ['read_only', 503, 30],
  ['lost', 503, undefined],
  ['unavailable', 503, 5],
  ['failed', 500, undefined],
] as const)('%s is told as %i', (reason, status, retry) => {
  const problem = failureProblem(fail(reason, 'why'))
  expect(ERRORS[problem.code].status).toBe(status)
  expect(problem.detail).toBe('why')
  expect(problem.retry_after_s).toBe(retry)
})

test('a refused part keeps its field errors', () => {
  const errors = [{ path: 'lines', message: 'no' }]
  const failure = partFailure(new AppError('invalid_request', 'lines: no', { errors }))
  expect(failureProblem(failure)).toEqual({ code: 'invalid_request', detail: 'lines: no', errors })
  expect(failureProblem(partFailure(new AppError('invalid_request', 'no'))).errors).toBeUndefined()
})
