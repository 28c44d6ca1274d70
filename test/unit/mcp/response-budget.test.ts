import { expect, it } from 'vitest'
import { responseBudgetOf } from '../../../src/mcp/results/result-terms.ts'

it.each([
  ['{"name":"t"}', null],
  ['{"_meta":{}}', null],
  ['{"_meta":{"haversack/response_budget":"compact"}}', 'compact'],
  ['{"_meta":{"haversack/response_budget":500}}', 500],
  ['{"_meta":{"haversack/response_budget":"500"}}', 500],
  ['{"_meta":{"haversack/response_budget":{"level":"compact"}}}', null],
  ['{"_meta":{"haversack/response_budget":0}}', null],
  ['{"_meta":["compact"]}', null],
])('the wish of %s is %s', (params, wish) => {
  expect(responseBudgetOf(Buffer.from(params))).toBe(wish)
})
