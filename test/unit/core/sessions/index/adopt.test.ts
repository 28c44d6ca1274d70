import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { attachIndex } from '../../../../../src/core/sessions/index/attach.ts'
import { createIndexMemory } from '../../../../../src/core/sessions/index/layout.ts'
import {
  type NewEntry,
  type SharedState,
  sessionKey,
} from '../../../../../src/core/sessions/index/session-index.ts'
import { auditIndex } from '../../../../property/core/sessions/index/audit.ts'

const key = sessionKey('acme', 's')
const open = () => attachIndex(createIndexMemory({ maxSessions: 4, maxEntries: 16 }), { owner: 1 })
const state = (changes: Partial<SharedState> = {}): SharedState => ({
  epoch: 1_000,
  partition: 0,
  results: 0,
  openedMs: 5,
  timeMs: 9,
  from: 0,
  to: 0,
  isBroken: false,
  ...changes,
})
const entry: NewEntry = {
  identity: hash('sha256', 'x'),
  kind: 'other',
  toolHash: 1,
  pathHash: 0,
  callHash: 2,
  bytes: 1,
  timeMs: 9,
  answer: 'full',
  of: 0,
}

function withEntry(epoch: number) {
  const index = open()
  index.adopt(key, state({ epoch, to: 3 }))
  const turn = index.begin(key, { timeMs: 9, again: { sequence: 4, epoch } })
  index.commit(index.record(turn, entry, { lruSize: 4 })!, true)
  return index
}

test('an unknown session is opened as the others have it', () => {
  const index = open()
  expect(index.adopt(key, state({ partition: 2, results: 7, to: 5 }))).toBe(true)
  expect(index.present(key)).toEqual({
    epoch: 1_000,
    partition: 2,
    isShared: true,
    applied: 5,
  })
  expect(index.summary(key)).toMatchObject({ results: 7, openedMs: 5, entries: 0 })
  expect(index.begin(key, { timeMs: 9 })).toMatchObject({ epoch: 1_000, sequence: 8 })
})

test('a session that only this process has is not shared', () => {
  const index = open()
  index.begin(key, { timeMs: 9 })
  expect(index.present(key)).toMatchObject({ isShared: false, applied: 0 })
  index.adopt(key, state())
  expect(index.present(key)).toMatchObject({ isShared: true, applied: 0 })
})

test('each change is applied by one thread, and by none that lacks the ones before it', () => {
  const index = open()
  expect(index.adopt(key, state({ to: 2 }))).toBe(true)
  expect(index.adopt(key, state({ to: 2 }))).toBe(false)
  expect(index.adopt(key, state({ from: 2, to: 2 }))).toBe(false)
  expect(index.adopt(key, state({ from: 3, to: 5 }))).toBe(false)
  expect(index.present(key)?.applied).toBe(2)
  expect(index.adopt(key, state({ from: 2, to: 5 }))).toBe(true)
  expect(index.present(key)?.applied).toBe(5)
  // One that was evicted meanwhile has nothing of what was before.
  index.close(key)
  expect(index.adopt(key, state({ from: 5, to: 6 }))).toBe(false)
  expect(index.present(key)?.applied).toBe(0)
})

test('what was seen stays in its epoch, and is forgotten with the next one', () => {
  const index = withEntry(1_000)
  index.adopt(key, state({ from: 3, to: 4 }))
  expect(index.entries(key)).toHaveLength(1)
  expect(index.summary(key)?.results).toBe(4)
  expect(index.adopt(key, state({ epoch: 1_001, partition: 1, results: 4 }))).toBe(false)
  expect(index.entries(key)).toEqual([])
  expect(index.present(key)).toEqual({ epoch: 1_001, partition: 1, isShared: true, applied: 0 })
})

test('what is not true any more, because changes are missing, is forgotten', () => {
  const index = withEntry(1_000)
  expect(index.adopt(key, state({ from: 90, to: 99, isBroken: true }))).toBe(true)
  expect(index.entries(key)).toEqual([])
  expect(index.present(key)?.applied).toBe(99)
  // Another thread was told the same, and comes later.
  const turn = index.begin(key, { timeMs: 9 })
  index.commit(index.record(turn, entry, { lruSize: 4 })!, true)
  expect(index.adopt(key, state({ from: 90, to: 99, isBroken: true }))).toBe(false)
  expect(index.entries(key)).toHaveLength(1)
})

test('a change of this process counts as applied if all before it are', () => {
  const index = open()
  index.adopt(key, state())
  index.applied(key, { epoch: 1_000, number: 1 })
  index.applied(key, { epoch: 1_000, number: 3 })
  index.applied(key, { epoch: 999, number: 2 })
  expect(index.present(key)?.applied).toBe(1)
  index.applied(sessionKey('acme', 'unknown'), { epoch: 1_000, number: 1 })
})

test('as many changes as can be counted do not touch hints and entries', () => {
  const memory = createIndexMemory({ maxSessions: 4, maxEntries: 16 })
  const index = attachIndex(memory, { owner: 1 })
  index.adopt(key, state({ to: 32_767 }))
  expect(index.takeHint(key, 7, 10)).toBe(true)
  for (let i = 0; i < 9; i++) {
    const turn = index.begin(key, { timeMs: 9 })
    const other = { ...entry, identity: hash('sha256', `${i}`) }
    index.commit(index.record(turn, other, { lruSize: 4 })!, true)
  }
  auditIndex(memory)
  expect(index.present(key)?.isShared).toBe(true)
  expect(index.present(key)?.applied).toBe(32_767)
  expect(index.summary(key)?.hints).toEqual([0, 0, 0, 0, 0, 0, 0, 1])
})
