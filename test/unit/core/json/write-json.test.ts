import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../../src/core/json/parse-json.ts'
import {
  equalValues,
  NumberLiteral,
  ObjectValue,
  type Value,
} from '../../../../src/core/json/value.ts'
import { quoteJson, writeJson } from '../../../../src/core/json/write-json.ts'
import { VALID_JSON } from './grammar-cases.ts'

describe('writeJson', () => {
  it('writes compact JSON with every spelling, key and duplicate in place', () => {
    const text = '{"b":[1.0,-0,1e400,{}],"10":[],"2":null,"b":{"":true}}'
    const parsed = parseJson(text.replaceAll(',', ' ,\n').replaceAll(':', ' : '))
    expect(parsed.ok && writeJson(parsed.value)).toBe(text)
  })

  it.each(Object.entries(VALID_JSON))(
    'writes %s so that it is read as the same value',
    (_, text) => {
      const parsed = parseJson(text)
      if (!parsed.ok) throw new Error('not parsed')
      const again = parseJson(writeJson(parsed.value))
      expect(again.ok && equalValues(again.value, parsed.value)).toBe(true)
    },
  )

  it.each([
    ['{"a":[1.0,-0,"x y",{}],"b":null,"a":"é"}', true],
    ['[]', true],
    ['[1, 2]', false],
    [' [1]', false],
    ['[1]\n', false],
    ['{"a" :1}', false],
    ['{ }', false],
    ['["\\u0041"]', false],
    ['{"\\u0041":1}', false],
    ['{"\\"":1}', false],
    ['["\ud800"]', false],
    ['["😀"]', true],
  ])('knows whether %s is what it writes', (text, expected) => {
    const parsed = parseJson(text)
    expect(parsed.ok && parsed.compact).toBe(expected)
    if (parsed.ok && parsed.compact) expect(writeJson(parsed.value)).toBe(text)
  })

  it('writes more distinct keys than it remembers', () => {
    const keys = Array.from({ length: 3000 }, (_, i) => `k"${i}`)
    expect(writeJson(new ObjectValue(keys, keys))).toBe(
      JSON.stringify(Object.fromEntries(keys.map(k => [k, k]))),
    )
  })

  it('is valid UTF-8 for every string', () => {
    for (const text of ['a', '"', '\\', '\n', '\u0000', '\ud800', '\udc00a', '😀', '\u2028', 'é']) {
      expect(quoteJson(text)).toBe(JSON.stringify(text))
      expect(quoteJson(text).isWellFormed()).toBe(true)
    }
  })
})

describe('equalValues', () => {
  const DISTINCT: readonly Value[] = [
    null,
    true,
    false,
    0,
    1,
    new NumberLiteral('-0'),
    new NumberLiteral('1.0'),
    new NumberLiteral('1.00'),
    '',
    'null',
    '1',
    'é',
    'e\u0301',
    '\ud800',
    '\udc00',
    [],
    [null],
    [1],
    [[1]],
    [1, 2],
    [2, 1],
    new ObjectValue([], []),
    new ObjectValue(['a'], [1]),
    new ObjectValue(['a'], ['1']),
    new ObjectValue(['b'], [1]),
    new ObjectValue(['a', 'b'], [1, 2]),
    new ObjectValue(['b', 'a'], [2, 1]),
    new ObjectValue(['a', 'a'], [1, 1]),
    new ObjectValue(['0'], [1]),
  ]

  it('tells apart everything that differs, in both directions', () => {
    for (const [i, a] of DISTINCT.entries()) {
      for (const [j, b] of DISTINCT.entries()) expect(equalValues(a, b), `${i} ${j}`).toBe(i === j)
    }
  })

  it('compares by content, not by identity', () => {
    for (const value of DISTINCT) {
      const copy = parseJson(writeJson(value))
      expect(copy.ok && equalValues(copy.value, value)).toBe(true)
    }
  })
})

it('writes and compares any depth on an ordinary stack', () => {
  const levels = 50_000
  const text = '[{"a":'.repeat(levels / 2) + '}]'.repeat(levels / 2).replace('}', '1}')
  const first = parseJson(text, { maxDepth: levels })
  const second = parseJson(text, { maxDepth: levels })
  if (!first.ok || !second.ok) throw new Error('not parsed')
  expect(equalValues(first.value, second.value)).toBe(true)
  expect(writeJson(first.value)).toBe(text)
})
