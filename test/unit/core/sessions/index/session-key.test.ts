import { expect, test } from 'vitest'
import { attachIndex } from '../../../../../src/core/sessions/index/attach.ts'
import { createIndexMemory } from '../../../../../src/core/sessions/index/layout.ts'
import {
  type SessionKey,
  sessionKey,
} from '../../../../../src/core/sessions/index/session-index.ts'

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

test('keys are compared in full', () => {
  const memory = createIndexMemory({ maxSessions: 1000, maxEntries: 1, shards: 1 })
  const index = attachIndex(memory, { owner: 1 })
  const keys = [0, 1, 2, 3].flatMap(at =>
    Array.from(
      { length: 200 },
      (_, word) => [-1, -1, -1, -1].with(at, word) as unknown as SessionKey,
    ),
  )
  for (const [i, key] of keys.entries()) {
    expect(index.begin(key, { timeMs: i })).toMatchObject({ sequence: 1 })
  }
  for (const [i, key] of keys.entries()) expect(index.summary(key)?.openedMs).toBe(i)
})

test('a key is four numbers of 32 bits', () => {
  expect(sessionKey('tenant', 'session')).toHaveLength(4)
  for (const word of sessionKey('tenant', 'session')) expect(word).toBe(word | 0)
})
