import { expect, it } from 'vitest'
import { responseBudget } from '../../../../src/core/contract/response-budget.ts'

it.each([1, 700, 100_000, 'full', 'standard', 'compact'])('a response budget may be %s', wish => {
  expect(responseBudget.safeParse(wish).success).toBe(true)
})

it.each([0, -1, 1.5, Number.NaN, Infinity, 1e9, 1e300, '', '0', 'tiny', null, {}, [1], true])(
  'a response budget of %s is refused',
  wish => expect(responseBudget.safeParse(wish).success).toBe(false),
)
