import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { attachIndex } from '../../../../../src/core/sessions/index/attach.ts'
import {
  createIndexMemory,
  HEADER,
  type IndexView,
  SHARD,
  shardAt,
  viewIndex,
} from '../../../../../src/core/sessions/index/layout.ts'
import { indexUse, releaseOwner } from '../../../../../src/core/sessions/index/owners.ts'
import {
  beginTurn,
  noteReference,
  recordBody,
} from '../../../../../src/core/sessions/index/results.ts'
import {
  type Entry,
  type NewEntry,
  sessionKey,
} from '../../../../../src/core/sessions/index/session-index.ts'
import {
  addCounters,
  adoptSession,
  closeSession,
  compactSession,
  dropIdle,
  invalidateEntries,
  takeHint,
} from '../../../../../src/core/sessions/index/sessions.ts'
import { auditIndex } from './audit.ts'

const SIZE = { maxSessions: 3, maxEntries: 7, shards: 1 }
const DEAD = 9
const [oldest, middle, newest, fresh] = ['a', 'b', 'c', 'd'].map(name => sessionKey('t', name))
const KEYS = [oldest!, middle!, newest!, fresh!]
const identityOf = (name: string) => hash('sha256', name)
const wordsOf = (name: string) =>
  new Int32Array(new Uint8Array(Buffer.from(identityOf(name), 'hex')).buffer)

function entryOf(name: string): NewEntry {
  const hashes = { toolHash: 1, pathHash: 2, callHash: 3 }
  const facts = { kind: 'other', bytes: 5, timeMs: 6, answer: 'full', of: 0 } as const
  return { identity: identityOf(name), ...hashes, ...facts }
}

/**
 * Three sessions that fill the memory: with two entries, two, and three; one body was seen by all
 * of them.
 */
function fullIndex(): SharedArrayBuffer {
  const memory = createIndexMemory(SIZE)
  const index = attachIndex(memory, { owner: 1 })
  for (const [i, bodies] of [
    ['x', 'y'],
    ['x', 'z'],
    ['x', 'y', 'z'],
  ].entries()) {
    for (const body of bodies) {
      const turn = index.begin(KEYS[i]!, { timeMs: i })
      const ticket = index.record(turn, { ...entryOf(body), timeMs: i }, { lruSize: 5 })
      index.commit(ticket!, body !== 'z' || i === 2)
    }
  }
  return memory
}

/** A session as other processes know it. */
const SHARED = {
  epoch: 77,
  partition: 2,
  results: 8,
  openedMs: 3,
  timeMs: 9,
  from: 0,
  to: 4,
  isBroken: false,
}

/** What all sessions would answer. */
function facts(memory: SharedArrayBuffer): { summary: object | null; entries: Entry[] }[] {
  const index = attachIndex(memory, { owner: 1 })
  return KEYS.map(key => ({
    summary: index.summary(key),
    entries: index.entries(key, { pending: true }),
  }))
}

/** The view of a thread that ends instead of its write number `writes`. */
function dyingView(memory: SharedArrayBuffer, writes: number): IndexView {
  const view = viewIndex(memory)
  let left = writes
  function dying<T extends Int32Array | Float64Array>(array: T): T {
    const write = (at: string | symbol | number, value: number) => {
      if (left-- === 0) throw new Error('terminated')
      return Reflect.set(array, at, value)
    }
    const fill = (value: number, from: number, to: number) => {
      for (let at = from; at < to; at++) write(at, value)
    }
    return new Proxy(array, {
      get: (_, at) => (at === 'fill' ? fill : Reflect.get(array, at)),
      set: (_, at, value) => write(at, value),
    })
  }
  return { ...view, words: dying(view.words), floats: dying(view.floats) }
}

function turnOf(view: IndexView, shard: number, key: (typeof KEYS)[number]) {
  return beginTurn(view, shard, key, { timeMs: 9 }, wordsOf(''))
}

const OPERATIONS: Record<string, (view: IndexView, shard: number) => unknown> = {
  'open, evicting a session': (view, shard) => turnOf(view, shard, fresh!),
  'record, evicting an entry': (view, shard) =>
    recordBody(view, shard, turnOf(view, shard, newest!), wordsOf('v'), {
      entry: entryOf('v'),
      lruSize: 2,
    }),
  'record, evicting a session': (view, shard) =>
    recordBody(view, shard, turnOf(view, shard, newest!), wordsOf('v'), {
      entry: entryOf('v'),
      lruSize: 5,
    }),
  refer: (view, shard) =>
    noteReference(view, shard, turnOf(view, shard, middle!), wordsOf('x'), {
      sequence: 1,
      callHash: 5,
    }),
  compact: (view, shard) => compactSession(view, shard, middle!),
  'adopt another epoch': (view, shard) => adoptSession(view, shard, middle!, SHARED),
  'adopt an unknown session': (view, shard) => adoptSession(view, shard, fresh!, SHARED),
  invalidate: (view, shard) => invalidateEntries(view, shard, newest!, { toolHash: 1 }),
  close: (view, shard) => closeSession(view, shard, middle!),
  'close idle': (view, shard) => dropIdle(view, shard, 2),
  count: (view, shard) => addCounters(view, shard, middle!, { exact: 1, near: 2, lines: 3 }),
  hint: (view, shard) => takeHint(view, shard, middle!, 3, 5),
}

/** Runs an operation that ends after some writes; says whether it came to its end before. */
function crash(memory: SharedArrayBuffer, name: string, writes: number): boolean {
  const shard = shardAt(viewIndex(memory), 0)
  const { words } = viewIndex(memory)
  words[shard + SHARD.lock] = DEAD * 2
  try {
    OPERATIONS[name]!(dyingView(memory, writes), shard)
    words[shard + SHARD.dirty] = 0
    return true
  } catch (error) {
    expect(String(error)).toBe('Error: terminated')
    return false
  } finally {
    expect(releaseOwner(memory, DEAD)).toBe(1)
  }
}

test.each(Object.keys(OPERATIONS))('%s: the end at any write leaves a whole index', name => {
  const before = facts(fullIndex())
  const finished = fullIndex()
  crash(finished, name, Number.POSITIVE_INFINITY)
  const after = facts(finished)
  expect(after).not.toEqual(before)
  let writes = 0
  for (; ; writes++) {
    const memory = fullIndex()
    const ended = crash(memory, name, writes)
    auditIndex(memory)
    for (const [i, found] of facts(memory).entries()) {
      // A session is as it was, as it shall be, or gone; one in the middle of being counted may be
      // in between.
      const allowed = [before[i]!.entries, after[i]!.entries, []]
      expect(allowed, `session ${i} after ${writes} writes`).toContainEqual(found.entries)
      if (found.entries.length === 0) continue
      expect(found.summary).toMatchObject({ partition: 0, entries: found.entries.length })
    }
    if (ended) break
  }
  // Where an operation writes at all, there were places to end at.
  expect(writes).toBeGreaterThan(0)
})

test('the memory that a dead thread had taken is used again', () => {
  const memory = fullIndex()
  for (let writes = 0; writes < 40; writes++) {
    crash(memory, 'record, evicting a session', writes)
    crash(memory, 'open, evicting a session', writes)
    crash(memory, 'compact', writes)
  }
  const index = attachIndex(memory, { owner: 1 })
  for (const key of KEYS.slice(1)) index.begin(key, { timeMs: 10 })
  for (let i = 0; i < 7; i++) {
    const turn = index.begin(KEYS[1 + (i % 3)]!, { timeMs: 11 })
    expect(index.record(turn, entryOf(`body ${i}`), { lruSize: 5 })).not.toBeNull()
  }
  expect(indexUse(memory)).toMatchObject({ sessions: 3, entries: 7 })
  auditIndex(memory)
})

test('an exception in the middle of an operation repairs the shard, too', () => {
  const memory = fullIndex()
  const index = attachIndex(memory, { owner: 1 })
  const turn = index.begin(newest!, { timeMs: 9 })
  // No caller does this: it makes the write of the entry fail half way.
  const entry = Object.defineProperty(entryOf('v'), 'bytes', {
    get: () => {
      throw new Error('half way')
    },
  })
  expect(() => index.record(turn, entry, { lruSize: 5 })).toThrow('half way')
  auditIndex(memory)
  expect(index.summary(newest!)).toBeNull()
  expect(index.summary(middle!)).toMatchObject({ results: 2 })
})

test('memory that is not an index is refused', () => {
  const memory = createIndexMemory(SIZE)
  viewIndex(memory).words[HEADER.version] = 99
  expect(() => attachIndex(memory, { owner: 1 })).toThrow(TypeError)
})
