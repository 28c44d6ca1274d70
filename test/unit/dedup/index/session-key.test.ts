import { expect, test } from 'vitest'
import { sessionKey } from '../../../../src/core/dedup/index/session-key.ts'

test('different pairs have different keys', () => {
  const pairs: [string, string][] = [
    ['a', 'b'],
    ['ab', ''],
    ['', 'ab'],
    ['b', 'a'],
    ['1:a', 'b'],
    ['', '1:ab'],
    ['a\0', 'b'],
    ['a', '\0b'],
    ['a', 'b\0'],
    // In UTF-8 the lone surrogates would be one and the same.
    ['a', '\ud800'],
    ['a', '\udfff'],
    ['a', '\ufffd'],
    ['a', 'x'.repeat(10_000)],
    ['a', 'x'.repeat(10_001)],
  ]
  const keys = pairs.map(pair => sessionKey(...pair).join())
  expect(new Set(keys).size).toBe(pairs.length)
  expect(pairs.map(pair => sessionKey(...pair).join())).toEqual(keys)
})

test('a key is four numbers of 32 bits', () => {
  expect(sessionKey('tenant', 'session')).toHaveLength(4)
  for (const word of sessionKey('tenant', 'session')) expect(word).toBe(word | 0)
})
