import { expect, it } from 'vitest'
import { rankText } from '../../../../../src/core/reduce/elide/text-reducers.ts'

it.each([
  ['of one line', '2026-01-01 10:00:00 INFO the boat left'],
  ['of one line with a failure', `2026-01-01 10:00:00 ERROR the mast broke ${'x'.repeat(100_000)}`],
  ['of one line of a megabyte', '10:00:00 INFO row '.repeat(60_000)],
])('a log %s is none, and stays whole', (_, text) => {
  expect(rankText(text)).toBeNull()
})
