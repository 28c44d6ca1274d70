import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../../src/core/json/parse-json.ts'
import { ObjectValue, type Value } from '../../../../src/core/json/value.ts'
import { jsonLength, writeJson } from '../../../../src/core/json/write-json.ts'
import { VALID_JSON } from './grammar-cases.ts'

const UNLIMITED = Number.POSITIVE_INFINITY

describe('jsonLength', () => {
  it.each(Object.entries(VALID_JSON))('is what writeJson writes of %s', (_, text) => {
    const parsed = parseJson(text)
    if (!parsed.ok) throw new Error('not parsed')
    expect(jsonLength(parsed.value, UNLIMITED)).toBe(writeJson(parsed.value).length)
  })

  it('counts more distinct keys than it remembers', () => {
    const keys = Array.from({ length: 3000 }, (_, i) => `k"${i}`)
    const value = new ObjectValue(keys, keys)
    expect(jsonLength([value, value], UNLIMITED)).toBe(writeJson([value, value]).length)
  })

  it('is exact up to the limit and above it beyond', () => {
    const value: Value = [new ObjectValue(['a', 'b'], [1, 'x']), [], null]
    const { length } = writeJson(value)
    expect(jsonLength(value, length)).toBe(length)
    for (let limit = 0; limit < length; limit++) {
      expect(jsonLength(value, limit)).toBeGreaterThan(limit)
    }
  })

  it('stops where a text would not fit in memory', () => {
    const row = new ObjectValue(['n'.repeat(1_000_000)], [1])
    const limit = 16_000_000
    const length = jsonLength(Array(1_000_000).fill(row), limit)
    expect(length).toBeGreaterThan(limit)
    // No more than a row and the list's commas too far.
    expect(length).toBeLessThan(limit + 2_100_000)
  })

  it('the length of deep JSON is found without recursion', () => {
    let value: Value = []
    for (let level = 1; level < 200_000; level++) value = [value]
    expect(jsonLength(value, UNLIMITED)).toBe(400_000)
  })
})
