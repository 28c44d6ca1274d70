import { expect, it } from 'vitest'
import { findPatternRuns } from '../../../../../../src/core/formats/json/tree/pattern-runs.ts'

/** Eight characters, of which half as many again, and one more, are thirteen. */
const PREFIX = '/a/b/c/d'

it.each([
  { neighbours: 13, start: 2, prefix: `${PREFIX}/e/f/` },
  { neighbours: 12, start: 1, prefix: PREFIX },
])('a run of 8 characters ends before neighbours that share $neighbours or not', row => {
  const { neighbours, start, prefix } = row
  const alike = `${PREFIX}/e/f/`.slice(0, neighbours)
  const values = ['', `${PREFIX}?`, `${alike}.1`, `${alike}:2`, `${alike};3`]
  expect(findPatternRuns(values)).toEqual([{ start, end: values.length, prefix }])
})

it('neighbours that differ before the thirteenth character share no more', () => {
  const values = ['', `${PREFIX}?`, `${PREFIX}/e/f/`, `${PREFIX}/g/f/`, `${PREFIX}/h/f/`]
  expect(findPatternRuns(values)).toEqual([{ start: 1, end: values.length, prefix: PREFIX }])
})
