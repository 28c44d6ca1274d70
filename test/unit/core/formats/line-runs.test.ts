import { describe, expect, it } from 'vitest'
import { readLineRuns } from '../../../../src/core/formats/text/prefix-groups.ts'

const MANY = 50_000
const LONG = 'src/app/main.ts:1: found'

describe('lines that share nothing', () => {
  it.each([
    ['empty lines', '\n'],
    ['short lines', 'a\nbb\nc\nd\ne\nf\ng\nh\ni\n'],
    ['rows of a table', '|---|\n'],
    ['lines of a hunk', `@@ -1,${MANY * 2} +1,${MANY * 2} @@\n${' a line of context\n'.repeat(9)}`],
  ])('come in a few runs: %s', (_, part) => {
    const text = part.repeat(part.startsWith('@@') ? 1 : MANY)
    const runs = readLineRuns(text)
    expect(runs.length).toBeLessThan(4)
    expect(runs.map(({ line }) => line).join('\n')).toBe(text)
  })
})

it('keeps long lines apart, and counts equal ones', () => {
  expect(readLineRuns(`a\n\n${LONG}\n${LONG}\nb\n${LONG}2`)).toEqual([
    { line: 'a\n', start: 0, times: 1, isFixed: true },
    { line: LONG, start: 3, times: 2, isFixed: false },
    { line: 'b', start: 3 + 2 * (LONG.length + 1), times: 1, isFixed: true },
    { line: `${LONG}2`, start: 5 + 2 * (LONG.length + 1), times: 1, isFixed: false },
  ])
})

it('writes lines that take turns once, and counts them', () => {
  const runs = readLineRuns(`x\n${'a\nbb\n'.repeat(MANY)}end`)
  expect(runs.map(({ line }) => line)).toEqual(['x\na\nbb', `×${MANY} (2 lines)`, 'end'])
  expect(runs[1]?.block).toMatchObject({ text: 'a\nbb\n', lines: 2, times: MANY })
})

it('keeps apart what looks like a count', () => {
  expect(readLineRuns('a\n×3\nb').map(({ line }) => line)).toEqual(['a', '×3', 'b'])
})
