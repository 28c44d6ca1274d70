import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { attachIndex } from '../../../../../src/core/sessions/index/attach.ts'
import { createIndexMemory } from '../../../../../src/core/sessions/index/layout.ts'
import { indexUse } from '../../../../../src/core/sessions/index/owners.ts'
import { sessionKey } from '../../../../../src/core/sessions/index/session-index.ts'
import { auditIndex } from '../../../../property/core/sessions/index/audit.ts'

const identity = hash('sha256', 'body')
const facts = { toolHash: 1, pathHash: 2, callHash: 0, kind: 'other', bytes: 9 } as const

test('100,000 sessions of five entries need less than 64 MB', () => {
  const memory = createIndexMemory({ maxSessions: 100_000, maxEntries: 500_000 })
  expect(memory.byteLength).toBeLessThan(64_000_000)
})

test('as many sessions as were asked for are live at once, with their entries', () => {
  const memory = createIndexMemory({ maxSessions: 10_000, maxEntries: 50_000, seeds: [77, 1234] })
  const index = attachIndex(memory, { owner: 1 })
  const keys = Array.from({ length: 10_000 }, (_, i) => sessionKey(`tenant ${i % 7}`, `${i}`))
  for (let round = 0; round < 5; round++) {
    for (const key of keys) {
      const turn = index.begin(key, { timeMs: round })
      const entry = { ...facts, identity, timeMs: round, answer: 'full', of: 0 } as const
      index.record(turn, entry, { lruSize: 5 })
    }
  }
  expect(indexUse(memory)).toEqual({ sessions: 10_000, entries: 50_000, evicted: 0 })
})

test('a flood of sessions stays in the memory, and leaves the last ones', () => {
  const memory = createIndexMemory({ maxSessions: 500, maxEntries: 1000 })
  const index = attachIndex(memory, { owner: 1 })
  for (let i = 0; i < 5_000; i++) {
    const turn = index.begin(sessionKey('t', `${i}`), { timeMs: i })
    const entry = { ...facts, identity, timeMs: i, answer: 'full', of: 0 } as const
    index.commit(index.record(turn, entry, { lruSize: 5 })!, true)
  }
  const { sessions, entries, evicted } = indexUse(memory)
  expect(sessions + evicted).toBe(5_000)
  expect(entries).toBe(sessions)
  for (let i = 4_800; i < 5_000; i++) {
    expect(index.entries(sessionKey('t', `${i}`))).toHaveLength(1)
  }
  expect(index.summary(sessionKey('t', '0'))).toBeNull()
  auditIndex(memory)
})

test.each([
  { maxSessions: 0, maxEntries: 5 },
  { maxSessions: 5, maxEntries: 1.5 },
  { maxSessions: 5, maxEntries: 5, shards: 3 },
  { maxSessions: 2 ** 26, maxEntries: 2 ** 28 },
])('a size of $maxSessions, $maxEntries, $shards is refused', size => {
  expect(() => createIndexMemory(size)).toThrow(RangeError)
})
