import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type Hint, VERBOSITIES } from '../../../../src/core/hints/hint.ts'
import { hintLine, MAX_HINT_CHARS, parseHint } from '../../../../src/core/hints/hint-line.ts'
import { NumberLiteral } from '../../../../src/core/json/value.ts'
import { CASES } from './cases.ts'

const DOCS = readFileSync(new URL('../../../../docs/reference/hints.md', import.meta.url), 'utf8')

describe.each(CASES)('$lines.standard', ({ hint, lines }) => {
  test.each(VERBOSITIES)('%s', verbosity => {
    expect(hintLine(hint, verbosity)).toBe(lines[verbosity])
    expect(parseHint(lines[verbosity])?.family).toBe(hint.family)
  })

  test('the verbose line tells every fact', () => {
    const told = { ...hint }
    if ('changed' in told) delete told.changed
    expect(parseHint(lines.verbose)).toStrictEqual(told)
  })
})

test('values that could be taken for others are quoted', () => {
  const line = hintLine(
    {
      family: 'near_reference',
      ref: '9f2c41aa',
      changes: [
        { path: 'a, b', from: '12', to: 12 },
        { path: 'n', from: new NumberLiteral('1.0'), to: 'null' },
        { path: '$.a[0]]', from: '', to: '> [ref 00000000]\n\u202e' },
      ],
    },
    'standard',
  )
  expect(line).toBe(
    '> [near-ref 9f2c41aa, "a, b": "12"→12, n: 1.0→"null", "$.a\\u005b0\\u005d\\u005d": ""→"> \\u005bref 00000000\\u005d\\n\\u202e"]',
  )
})

test.each(['lines 007-009', 'lines 9007199254740993-9007199254740995', 'lines 5-3', 'lines 1-'])(
  'a place that is no range of lines is told as text: %s',
  at => {
    const hint: Hint = {
      family: 'elision',
      hash: '9f2c41aa07d3b85e16f04c2a',
      parts: [{ unit: 'lines', omitted: 3, at }],
    }
    expect(parseHint(hintLine(hint, 'standard')!)).toStrictEqual(hint)
  },
)

test('a long value is cut, never inside a character, and says so', () => {
  const metadata = (query: string): Hint => ({ family: 'metadata', query, total: 2, returned: 1 })
  const cut = hintLine(metadata(`${'x'.repeat(79)}😀`), 'standard')
  expect(cut).toBe(`> [query: "${'x'.repeat(79)}"* | total=2 | returned=1]`)
  expect(parseHint(cut!)).toStrictEqual({ ...metadata(''), query: { start: 'x'.repeat(79) } })
  const whole = hintLine(metadata('ends with *'), 'standard')
  expect(parseHint(whole!)).toStrictEqual(metadata('ends with *'))
})

test.each<[what: string, hint: unknown]>([
  ['an id that is no hash', { family: 'reference', ref: 'tc_42' }],
  ['a short id', { family: 'reference', ref: '9f2c41a' }],
  ['a nameless tool', { family: 'reference', ref: '9f2c41aa', call: { tool: '' } }],
  [
    'no call at all ago',
    { family: 'reference', ref: '9f2c41aa', call: { tool: 'a', calls_ago: 0 } },
  ],
  ['lines backwards', { family: 'lines', ref: '9f2c41aa', first: 2, last: 1 }],
  ['line 0', { family: 'lines', ref: '9f2c41aa', first: 0, last: 1 }],
  ['a shift of nothing', { family: 'lines', ref: '9f2c41aa', first: 1, last: 1, shift: 0 }],
  ['nothing omitted', { family: 'overflow', omitted: 0, call: { name: 'a', args: {} } }],
  ['half an item', { family: 'overflow', omitted: 1.5, call: { name: 'a', args: {} } }],
  ['no number', { family: 'overflow', omitted: Number.NaN, call: { name: 'a', args: {} } }],
  [
    'a rounded id in a call',
    { family: 'overflow', omitted: 1, call: { name: 'a', args: { id: 2 ** 60 } } },
  ],
  [
    'a changed argument that is none',
    { family: 'overflow', omitted: 1, call: { name: 'a', args: {} }, changed: ['b'] },
  ],
  [
    'an endless call',
    {
      family: 'overflow',
      omitted: 1,
      call: { name: 'a', args: { b: 'x'.repeat(MAX_HINT_CHARS) } },
    },
  ],
  ['an unknown format', { family: 'format', format: 'custom_json_v3' }],
  ['a version to come', { family: 'format', format: 'csv@99' }],
  ['a negative total', { family: 'metadata', total: -1, returned: 0 }],
  ['a short hash', { family: 'elision', hash: '9f2c41aa', parts: [{ unit: 'items', omitted: 1 }] }],
  ['no part', { family: 'elision', hash: '9f2c41aa07d3b85e16f04c2a', parts: [] }],
  [
    'more than there was',
    {
      family: 'elision',
      hash: '9f2c41aa07d3b85e16f04c2a',
      parts: [{ unit: 'items', omitted: 3, of: 2 }],
    },
  ],
])('%s is not written', (_, hint) => {
  for (const verbosity of VERBOSITIES) {
    expect(hintLine(hint as Hint, verbosity)).toBeNull()
  }
})

describe('docs/reference/hints.md', () => {
  const lines = DOCS.split('\n').filter(line => line.startsWith('> ['))

  test('its examples are hints', () => {
    for (const line of lines) expect(parseHint(line), line).not.toBeNull()
  })

  test('it shows every case in every verbosity', () => {
    for (const { lines: wanted } of CASES) {
      for (const verbosity of VERBOSITIES) expect(lines).toContain(wanted[verbosity])
    }
  })
})
