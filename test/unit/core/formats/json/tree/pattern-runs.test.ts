import { expect, it } from 'vitest'
import { findPatternRuns } from '../../../../../../src/core/formats/json/tree/pattern-runs.ts'

/** Sixteen characters, of which half as many again, and one more, are 25. */
const PREFIX = '/a/b/c/d/e/f/g/h'
const MORE = `${PREFIX}/i/j/k/l/`

it.each([
  { neighbours: 25, start: 2, prefix: MORE },
  { neighbours: 24, start: 1, prefix: PREFIX },
])('a run of 16 characters ends before neighbours that share $neighbours or not', row => {
  const { neighbours, start, prefix } = row
  const alike = MORE.slice(0, neighbours)
  const values = ['', `${PREFIX}?`, `${alike}.1`, `${alike}:2`, `${alike};3`]
  expect(findPatternRuns(values)).toEqual([{ start, end: values.length, prefix }])
})

it('neighbours that differ before the 25th character share no more', () => {
  const values = ['', `${PREFIX}?`, MORE, ...['m', 'n'].map(step => `${PREFIX}/${step}/j/k/l/`)]
  expect(findPatternRuns(values)).toEqual([{ start: 1, end: values.length, prefix: PREFIX }])
})
