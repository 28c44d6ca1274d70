import { describe, expect, it } from 'vitest'
import { DEFAULT_MAX_DEPTH, parseJson } from '../../../../src/core/json/parse-json.ts'
import { NumberLiteral, ObjectValue, type Value } from '../../../../src/core/json/value.ts'
import { FULL_RUNS } from '../../../support/runs.ts'
import { INVALID_JSON, VALID_JSON } from './grammar-cases.ts'

function parsed(text: string): Value {
  const result = parseJson(text)
  if (!result.ok) throw new Error(`${result.reason} at ${result.offset}`)
  return result.value
}

describe('the grammar', () => {
  it.each(Object.entries(VALID_JSON))('accepts %s, as JSON.parse does', (_, text) => {
    JSON.parse(text)
    expect(parseJson(text)).toMatchObject({ ok: true })
  })

  it.each(Object.entries(INVALID_JSON))('rejects %s, as JSON.parse does', (_, text) => {
    expect(() => JSON.parse(text)).toThrow()
    expect(parseJson(text)).toMatchObject({ ok: false, reason: 'syntax' })
    expect(parseJson(`{"k":[0,${text}]}`).ok).toBe(false)
  })

  it.each([
    ['[1,x]', 3],
    ['{"a":1,}', 7],
    ['["a\\x"]', 3],
    ['"abc', 4],
    ['[1] 2', 4],
    ['\ufeff1', 0],
  ])('says where %j stops being JSON', (text, offset) => {
    expect(parseJson(text)).toEqual({ ok: false, reason: 'syntax', offset })
  })
})

describe('the value', () => {
  it('keeps the order of keys, integer-like ones too, and duplicates', () => {
    expect(parsed('{"b":1,"10":2,"2":3,"b":4}')).toEqual(
      new ObjectValue(['b', '10', '2', 'b'], [1, 2, 3, 4]),
    )
  })

  it('treats the names of the prototype as plain keys', () => {
    const value = parsed('{"__proto__":{"x":1},"constructor":2}') as ObjectValue
    expect(value.keys).toEqual(['__proto__', 'constructor'])
    expect(value.values[0]).toEqual(new ObjectValue(['x'], [1]))
  })

  it('keeps lone surrogates, escaped or raw', () => {
    expect(parsed('["\\ud800","\ud800","\\uDC00x"]')).toEqual(['\ud800', '\ud800', '\udc00x'])
  })

  it.each(['0', '7', '-7', '1.5', '-0.25', '0.000001', '999999999999999', '9007199254740993.5'])(
    'reads %s',
    text => {
      const value = parsed(text)
      expect(value instanceof NumberLiteral ? Number(value.text) : value).toBe(Number(text))
    },
  )

  it.each(['0', '-1', '0.1', '123456.789', '1e+21', '1e-7', '1.5e+300', '9007199254740991'])(
    'reads %s, which a double spells the same, as a plain number',
    text => {
      expect(parsed(text)).toBe(Number(text))
    },
  )

  it.each([
    '1.0',
    '-0',
    '-0.0',
    '1.50',
    '1e400',
    '1E5',
    '1e5',
    '0.0000001',
    '12345678901234567890',
    '0.1000000000000000055',
    '9007199254740993',
  ])('keeps the spelling of %s', text => {
    expect(parsed(text)).toEqual(new NumberLiteral(text))
    expect(parsed(`[${text},${text}]`)).toEqual([new NumberLiteral(text), new NumberLiteral(text)])
  })

  it('shares the keys of objects that repeat them, and only of those', () => {
    const rows = parsed(
      '[{"a":1,"b":2},{"a":3,"b":4},{"a":5},{"a":6,"c":7},{"a":8,"b":9,"c":0},{"ab":1}]',
    ) as readonly ObjectValue[]
    expect(rows[1]!.keys).toBe(rows[0]!.keys)
    expect(rows.map(row => row.keys.join())).toEqual(['a,b', 'a,b', 'a', 'a,c', 'a,b,c', 'ab'])
  })

  it('is not misled by keys whose escapes spell another key', () => {
    const rows = parsed('[{"a\\n":1,"b":2},{"a\\n":3,"\\u0062":4},{"a\\\\n":5}]') as ObjectValue[]
    expect(rows.map(row => row.keys)).toEqual([['a\n', 'b'], ['a\n', 'b'], ['a\\n']])
    expect(parseJson('[{"k":1,"a\\n":1},{"k":1,"a\n":1}]').ok).toBe(false)
    expect(parseJson('[{"k":1,"a\\"":1},{"k":1,"a"":1}]').ok).toBe(false)
  })
})

describe('part of a text', () => {
  it('starts where it is told and says where the value ends', () => {
    expect(parseJson('x: "é" rest', { start: 2, prefix: true })).toEqual({
      ok: true,
      value: 'é',
      depth: 0,
      end: 6,
      compact: false,
    })
  })

  it('leaves white space after the value alone', () => {
    const compact = false
    expect(parseJson(' [1] \n')).toEqual({ ok: true, value: [1], depth: 1, end: 4, compact })
  })
})

describe('depth', { timeout: 60_000 }, () => {
  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

  it('counts levels of objects and arrays', () => {
    expect(parseJson('1')).toMatchObject({ depth: 0 })
    expect(parseJson('{}')).toMatchObject({ depth: 1 })
    expect(parseJson('[{"a":[1]},{}]')).toMatchObject({ depth: 3 })
  })

  it('accepts the limit and reports one level more', () => {
    expect(parseJson(nested(DEFAULT_MAX_DEPTH))).toMatchObject({ depth: DEFAULT_MAX_DEPTH })
    expect(parseJson(nested(DEFAULT_MAX_DEPTH + 1))).toEqual({
      ok: false,
      reason: 'depth',
      offset: DEFAULT_MAX_DEPTH,
    })
    expect(parseJson('[[1]]', { maxDepth: 1 })).toMatchObject({ reason: 'depth', offset: 1 })
    expect(parseJson('[]', { maxDepth: 0 })).toMatchObject({ reason: 'depth' })
    expect(parseJson('1', { maxDepth: 0 })).toMatchObject({ ok: true })
  })

  it('does not crash on 200,000 brackets, whatever the limit', () => {
    const levels = 200_000
    expect(parseJson('['.repeat(levels))).toMatchObject({ reason: 'depth' })
    expect(parseJson('['.repeat(levels), { maxDepth: levels })).toMatchObject({ reason: 'syntax' })
    expect(parseJson(nested(levels), { maxDepth: levels })).toMatchObject({ depth: levels })
  })
})

describe('size', { timeout: 60_000 }, () => {
  it('takes many objects that share their first key with a wide one', () => {
    const count = FULL_RUNS ? 100_000 : 5_000
    const wide = Array.from({ length: count }, (_, i) => `"k${i}":0`).join()
    const rows = '{"k0":0},{"k0":0,"x":1},'.repeat(count)
    expect((parsed(`[{${wide}},${rows}1]`) as Value[]).length).toBe(2 * count + 2)
  })
})
