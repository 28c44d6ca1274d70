import { expect, it } from 'vitest'
import { commonAffixes } from '../../../../src/core/formats/json/tree/pattern-runs.ts'
import {
  choosePrefixGroups,
  readLineRuns,
} from '../../../../src/core/formats/text/prefix-groups.ts'
import { cutsName, cutsNumber } from '../../../../src/core/formats/word-cuts.ts'
import { FREE_READING } from '../../../../src/core/reading/price.ts'

/** Bars are where a text is cut. */
const cut = (marked: string) => [marked.replace('|', ''), marked.indexOf('|')] as const

it.each(['0.|07', '0|.07', '1,|234', '12|34', 'by -|5', '.|5', '+|5'])(
  'finds the number that %s cuts',
  marked => {
    expect(cutsNumber(...cut(marked))).toBe(true)
    expect(cutsName(...cut(marked))).toBe(true)
  },
)

it.each(['d-|7', '2026-|07-01', 'ms: |7', 'a.|b', '#|7', '(|0.07s)', 'ORD|7', '7|', '|7', '5.|'])(
  'finds none that %s cuts',
  marked => {
    expect(cutsNumber(...cut(marked))).toBe(false)
  },
)

it.each([
  ...['12:|30', '2026|-07', 'v1.|2', 'a.|b', 'my-|file.ts', 'src/|a.ts', '.|./a', 'C:|\\a', '|/a'],
  ...[
    'overlay2/|00000007/diff',
    '1/2/|3',
    'https|://a.b',
    'https:|//a',
    'a|.b',
    'é|t',
    '_|a',
    'T12:30|+02:00',
  ],
])('knows whether %s cuts a name', marked => {
  expect(cutsName(...cut(marked))).toBe(!['C:|\\a', '|/a'].includes(marked))
})

it.each(['(3|/12)', '(3/|12)', 'a|(b)', 'it took 5|.', '2026-07-01T|12:30', 'a=|b', 'port:|80'])(
  'finds no name that %s cuts',
  marked => {
    expect(cutsName(...cut(marked))).toBe(false)
  },
)

it('states no part of a number once for a column', () => {
  expect(commonAffixes(['0.07', '0.1', '0.25'])).toBe(null)
  expect(commonAffixes(['-5', '-7'])).toBe(null)
  // The second text alone goes on with a digit.
  expect(commonAffixes(['0.x', '0.07'])).toBe(null)
  expect(commonAffixes(['7.50', '8.50'])).toBe(null)
  expect(commonAffixes(['10.0.0.1:80', '10.0.0.2:80'])).toEqual({ prefix: '', suffix: ':80' })
  expect(commonAffixes(['d-1', 'd-22'])).toEqual({ prefix: 'd-', suffix: '' })
})

it.each([
  ['version 1.|2 of a', 'version 1.|31 of b', 'version '],
  ['worker run 2026-01-|15-54e3 is', 'worker run 2026-01-|16-19ab is', 'worker run '],
  ['total: 1,|234 of a', 'total: 1,|567 of b', 'total: '],
  ['src/app/a.ts-|13-x', 'src/app/a.ts-|14-y', 'src/app/a.ts-'],
  ['src/app/a.ts:|13:x', 'src/app/a.ts:|14:y', 'src/app/a.ts:'],
])('writes no part of a number in a heading: %s', (first, second, heading) => {
  const text = Array.from({ length: 9 }, (_, at) => (at % 2 === 0 ? first : second))
    .join('\n')
    .replaceAll('|', '')
  const prices = { count: (part: string) => part.length, reading: FREE_READING }
  const [group] = choosePrefixGroups(text, readLineRuns(text), prices).groups
  expect(text.slice(0, group?.length)).toBe(heading)
})

it.each([
  ['2026-03-01T00:10:02Z on', '2026-03-01T00:13:00Z on'],
  ['at 00:10:02 read a file', 'at 00:10:13 read a file'],
])('writes no part of a time in a heading: %s', (first, second) => {
  const text = Array.from({ length: 9 }, (_, at) => (at % 2 === 0 ? first : second)).join('\n')
  const prices = { count: (part: string) => part.length, reading: FREE_READING }
  expect(choosePrefixGroups(text, readLineRuns(text), prices).groups).toEqual([])
})
