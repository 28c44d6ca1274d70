import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { attachIndex } from '../../../../../src/core/sessions/index/attach.ts'
import {
  createIndexMemory,
  SHARD,
  shardAt,
  viewIndex,
} from '../../../../../src/core/sessions/index/layout.ts'
import { IndexBusyError } from '../../../../../src/core/sessions/index/lock.ts'
import { releaseOwner } from '../../../../../src/core/sessions/index/owners.ts'
import { type NewEntry, sessionKey } from '../../../../../src/core/sessions/index/session-index.ts'

const key = sessionKey('t', 's')

function create() {
  const memory = createIndexMemory({ maxSessions: 4, maxEntries: 20, shards: 1 })
  return { memory, index: attachIndex(memory, { owner: 1 }) }
}

function entryOf(identity: string, callHash = 0): NewEntry {
  const hashes = { toolHash: 1, pathHash: 2, callHash }
  return { identity, ...hashes, kind: 'file-read', bytes: 3, timeMs: 0, answer: 'full', of: 0 }
}

test('a retry gets the answer of the first time, and is not counted', () => {
  const { index } = create()
  const identity = hash('sha256', 'body')
  const first = index.begin(key, { timeMs: 1, callHash: 11, identity })
  expect(first).toMatchObject({ sequence: 1, answered: null, match: null })
  const ticket = index.record(first, entryOf(identity, 11), { lruSize: 5 })
  const early = index.begin(key, { timeMs: 2, callHash: 11, identity })
  expect(early).toMatchObject({ sequence: 1, answered: { as: 'body', entry: { durable: false } } })
  index.commit(ticket!, true)
  // The same body by another call is answered with a reference, and so is that call's retry.
  const second = index.begin(key, { timeMs: 3, callHash: 22, identity })
  expect(second).toMatchObject({ sequence: 2, answered: null, match: { sequence: 1 } })
  expect(index.refer(second, second.match!, 22)).toBe(true)
  index.begin(key, { timeMs: 4 })
  const again = index.begin(key, { timeMs: 5, callHash: 22, identity })
  expect(again).toMatchObject({
    sequence: 2,
    answered: { as: 'reference', entry: { sequence: 1 } },
  })
  const late = index.begin(key, { timeMs: 6, callHash: 11, identity })
  expect(late).toMatchObject({ sequence: 1, answered: { as: 'body' } })
  expect(index.summary(key)).toMatchObject({ results: 3, entries: 1 })
})

test('the ticket of a try that died is void once the body is recorded again', () => {
  const { index } = create()
  const identity = hash('sha256', 'body')
  const first = index.begin(key, { timeMs: 1, callHash: 11, identity })
  const dead = index.record(first, entryOf(identity, 11), { lruSize: 5 })
  const retry = index.begin(key, { timeMs: 2, callHash: 11, identity })
  const ticket = index.record(retry, entryOf(identity, 11), { lruSize: 5 })
  expect(index.commit(dead!, true)).toBe(false)
  expect(index.entries(key)).toEqual([])
  expect(index.commit(ticket!, true)).toBe(true)
  expect(index.entries(key)).toHaveLength(1)
  expect(index.record(retry, entryOf(identity, 11), { lruSize: 5 })).toBeNull()
})

test('a turn ends with its partition', () => {
  const { index } = create()
  const identity = hash('sha256', 'body')
  const turn = index.begin(key, { timeMs: 1 })
  index.commit(index.record(turn, entryOf(identity), { lruSize: 5 })!, true)
  const match = index.check(turn, identity)!
  expect(index.compact(key)).toBe(1)
  expect(index.check(turn, identity)).toBeNull()
  expect(index.refer(turn, match, 5)).toBe(false)
  expect(index.record(turn, entryOf(identity), { lruSize: 5 })).toBeNull()
  const next = index.begin(key, { timeMs: 2, identity })
  expect(next).toMatchObject({ partition: 1, sequence: 2, match: null })
  // Nor does a new life of the session find anything of the old one.
  index.close(key)
  const reborn = index.begin(key, { timeMs: 3, identity })
  expect(reborn).toMatchObject({ partition: 0, sequence: 1, match: null })
  expect(new Set([turn.epoch, next.epoch, reborn.epoch]).size).toBe(3)
})

test('references are lengthened where their first digits are the same', () => {
  const { index } = create()
  const [a, b, c] = ['1', '2', '3'].map(digit => 'abcdef0123'.padEnd(64, digit))
  for (const identity of [a!, b!, `f${c!.slice(1)}`]) {
    const turn = index.begin(key, { timeMs: 1 })
    index.commit(index.record(turn, entryOf(identity), { lruSize: 5 })!, true)
  }
  expect(index.entries(key).map(({ ref }) => ref)).toEqual([
    'fbcdef01',
    'abcdef01232',
    'abcdef01231',
  ])
})

test('an identity is a SHA-256 digest, an owner a small number, a family below 8', () => {
  const { index, memory } = create()
  const turn = index.begin(key, { timeMs: 1 })
  expect(() => index.check(turn, 'abc')).toThrow(RangeError)
  expect(() => index.check(turn, 'g'.repeat(64))).toThrow(RangeError)
  expect(() => attachIndex(memory, { owner: 0 })).toThrow(RangeError)
  expect(() => index.takeHint(key, 8, 1)).toThrow(RangeError)
})

test('a lock that a dead thread holds is waited for as long as allowed, and free after its release', () => {
  const { memory, index } = create()
  index.begin(key, { timeMs: 1 })
  const view = viewIndex(memory)
  Atomics.store(view.words, shardAt(view, 0) + SHARD.lock, 9 * 2)
  const main = attachIndex(memory, { owner: 2, maxWaitMs: 1 })
  expect(() => main.begin(key, { timeMs: 2 })).toThrow(IndexBusyError)
  expect(main.closeIdle(10)).toBe(0)
  expect(releaseOwner(memory, 8)).toBe(0)
  expect(releaseOwner(memory, 9)).toBe(1)
  expect(main.begin(key, { timeMs: 2 })).toMatchObject({ sequence: 2 })
})

test('two attachments with one owner are found out', () => {
  const { memory, index } = create()
  const view = viewIndex(memory)
  Atomics.store(view.words, shardAt(view, 0) + SHARD.lock, 1 * 2)
  expect(() => index.begin(key, { timeMs: 1 })).toThrow('has the lock already')
})
