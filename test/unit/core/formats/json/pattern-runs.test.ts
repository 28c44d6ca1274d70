import { expect, it } from 'vitest'
import {
  commonAffixes,
  findPatternRuns,
} from '../../../../../src/core/formats/json/tree/pattern-runs.ts'

const runsOf = (prefix: string, ...ends: readonly string[]) =>
  findPatternRuns(['the first is in none', ...ends.map(end => prefix + end)])

it('members that begin alike share 16 characters or more', () => {
  const prefix = 'https://a.bc/de/'
  expect(runsOf(prefix, 'x', 'y', 'z')).toEqual([{ start: 1, end: 4, prefix }])
  expect(runsOf(prefix.slice(1), 'x', 'y', 'z')).toEqual([])
})

it('something is left of each, since nothing reads as an empty string', () => {
  const prefix = 'https://a.bc/de/'
  expect(runsOf(prefix, 'x', 'y', 'z', '')).toEqual([{ start: 1, end: 4, prefix }])
  expect(runsOf(prefix, '', 'x', 'y', 'z')).toEqual([{ start: 2, end: 5, prefix }])
  expect(runsOf(prefix, 'x', 'x', 'x')).toEqual([{ start: 1, end: 4, prefix }])
  expect(commonAffixes(['a/b/', 'a/b/c', 'a/b/d'])).toEqual({ prefix: 'a/b', suffix: '' })
})
