import {
  freeChain,
  isLive,
  linkEntry,
  newestEntry,
  referenceLength,
  removeEntries,
  removeLast,
  stampPending,
  stateOf,
  takeEntry,
  touchEntry,
} from './entry-chain.ts'
import { readEntry, writeEntry } from './entry-fields.ts'
import { createIdentityReader, sameIdentity } from './identity.ts'
import {
  ENTRY,
  HINT_FAMILIES,
  type IndexView,
  SESSION,
  SHARD,
  STATE,
  shardAt,
  viewIndex,
} from './layout.ts'
import { acquire, release, tryAcquire } from './lock.ts'
import { repairShard } from './repair.ts'
import {
  type Entry,
  KINDS,
  type NewEntry,
  type SessionIndex,
  type SessionSummary,
  type Ticket,
  type Turn,
} from './session-index.ts'
import type { SessionKey } from './session-key.ts'
import {
  dropSession,
  evictOldest,
  findSession,
  hasKey,
  nextEpoch,
  openSession,
  shardOf,
  touchSession,
} from './session-table.ts'
import { addCounters, readSummary, takeHint } from './summary.ts'

export interface AttachOptions {
  /** Number of the calling thread, from 1; no two living threads have the same. */
  readonly owner: number
  /** How long a call may sleep for a lock; without, until the lock is free. For the main thread: a few milliseconds. */
  readonly maxWaitMs?: number
}

/**
 * The index as one thread uses it.
 * @throws TypeError for memory that is no index, RangeError for an owner that is no positive 30-bit number
 */
export function attachIndex(memory: SharedArrayBuffer, options: AttachOptions): SessionIndex {
  const { owner, maxWaitMs = Number.POSITIVE_INFINITY } = options
  if (!Number.isInteger(owner) || owner < 1 || owner >= 2 ** 30) {
    throw new RangeError('an owner is a positive number of 30 bits')
  }
  return new AttachedIndex(viewIndex(memory), owner, maxWaitMs)
}

type Parameter<Method extends keyof SessionIndex, N extends number> = Parameters<
  SessionIndex[Method]
>[N]

class AttachedIndex implements SessionIndex {
  readonly #view: IndexView
  readonly #owner: number
  readonly #maxWaitMs: number
  readonly #identities = createIdentityReader()

  constructor(view: IndexView, owner: number, maxWaitMs: number) {
    this.#view = view
    this.#owner = owner
    this.#maxWaitMs = maxWaitMs
  }

  begin(key: SessionKey, result: Parameter<'begin', 1>): Turn {
    const { timeMs, callHash = 0, identity } = result
    const digest = identity === undefined ? null : this.#identities.read(identity)
    const view = this.#view
    const { words, floats } = view
    return this.#locked(key, shard => {
      let slot = findSession(view, shard, key)
      if (slot === 0) slot = openSession(view, shard, key, timeMs)
      else touchSession(view, shard, slot)
      const seen = (slot + SESSION.seen) >> 1
      if (timeMs > floats[seen]!) floats[seen] = timeMs
      const partition = words[slot + SESSION.partition]!
      const epoch = words[slot + SESSION.epoch]!
      const at = digest === null ? 0 : this.#findCall(slot, callHash, digest)
      if (at === 0) {
        const sequence = ++words[slot + SESSION.results]!
        return { key, sequence, partition, epoch, slot, answered: null }
      }
      const own = words[at + ENTRY.call] === callHash
      const sequence = words[at + (own ? ENTRY.sequence : ENTRY.hitSequence)]!
      const entry = readEntry(view, at, partition, identity)
      const answered = { entry, as: own ? 'body' : 'reference' } as const
      return { key, sequence, partition, epoch, slot, answered }
    })
  }

  check(turn: Turn, identity: string, { toolHash }: Parameter<'check', 2> = {}): Entry | null {
    const digest = this.#identities.read(identity)
    const view = this.#view
    const { words } = view
    return this.#locked(turn.key, shard => {
      const slot = this.#locate(turn)
      if (slot === 0) return null
      const at = newestEntry(
        view,
        slot,
        at =>
          sameIdentity(words, at, digest) &&
          stateOf(view, at) === STATE.durable &&
          isLive(view, slot, at) &&
          (toolHash === undefined || words[at + ENTRY.tool] === toolHash),
      )
      if (at === 0) return null
      words[shard + SHARD.dirty] = slot
      touchEntry(view, slot, at)
      return readEntry(view, at, turn.partition, identity)
    })
  }

  record(turn: Turn, entry: NewEntry, { lruSize }: Parameter<'record', 2>): Ticket | null {
    const digest = this.#identities.read(entry.identity)
    const view = this.#view
    const { words } = view
    return this.#locked(turn.key, shard => {
      const slot = this.#locate(turn)
      if (slot === 0) return null
      const before = this.#findCall(slot, entry.callHash, digest)
      if (before !== 0) {
        // The first try may have died with its thread: its ticket is void, the new one counts.
        const pending = stateOf(view, before) === STATE.pending
        return pending ? { slot: before, stamp: stampPending(view, before) } : null
      }
      // Whoever is evicted for want of room, it is not this session.
      touchSession(view, shard, slot)
      words[shard + SHARD.dirty] = slot
      const at = this.#room(shard, slot, lruSize)
      const refLength = referenceLength(view, slot, digest)
      const { sequence, epoch } = turn
      writeEntry(view, at, entry, { identity: digest, sequence, epoch, refLength })
      linkEntry(view, slot, at)
      return { slot: at, stamp: stampPending(view, at) }
    })
  }

  refer(turn: Turn, entry: Entry, callHash: number): boolean {
    const digest = this.#identities.read(entry.identity)
    const { words } = this.#view
    return this.#locked(turn.key, () => {
      const slot = this.#locate(turn)
      if (slot === 0) return false
      const at = newestEntry(
        this.#view,
        slot,
        at =>
          words[at + ENTRY.sequence] === entry.sequence &&
          sameIdentity(words, at, digest) &&
          stateOf(this.#view, at) === STATE.durable,
      )
      if (at === 0) return false
      // In this order, so that no call is ever seen with the number of another.
      words[at + ENTRY.hitCall] = 0
      words[at + ENTRY.hitSequence] = turn.sequence
      words[at + ENTRY.hitCall] = callHash
      return true
    })
  }

  settle({ slot, stamp }: Ticket, kept: boolean): boolean {
    const pending = (stamp << 2) | STATE.pending
    const settled = (stamp << 2) | (kept ? STATE.durable : STATE.refused)
    return (
      Atomics.compareExchange(this.#view.words, slot + ENTRY.state, pending, settled) === pending
    )
  }

  entries(key: SessionKey, { pending = false }: Parameter<'entries', 1> = {}): Entry[] {
    const view = this.#view
    const { words } = view
    const found = this.#inSession<Entry[]>(key, [], slot => {
      const partition = words[slot + SESSION.partition]!
      const entries: Entry[] = []
      for (let at = words[slot + SESSION.first]!; at !== 0; at = words[at + ENTRY.next]!) {
        if (!isLive(view, slot, at)) continue
        const entry = readEntry(view, at, partition)
        if (pending || entry.durable) entries.push(entry)
      }
      return entries
    })
    return found.sort((a, b) => b.sequence - a.sequence)
  }

  invalidate(key: SessionKey, match: Parameter<'invalidate', 1>): number {
    const { pathHash, toolHash, kind } = match
    const kindNumber = kind === undefined ? undefined : KINDS.indexOf(kind)
    const { words } = this.#view
    return this.#inSession(key, 0, (slot, shard) => {
      words[shard + SHARD.dirty] = slot
      return removeEntries(
        this.#view,
        shard,
        slot,
        at =>
          (pathHash === undefined || words[at + ENTRY.path] === pathHash) &&
          (toolHash === undefined || words[at + ENTRY.tool] === toolHash) &&
          (kindNumber === undefined || (words[at + ENTRY.meta]! & 15) === kindNumber),
      )
    })
  }

  compact(key: SessionKey): number | null {
    const { words } = this.#view
    return this.#inSession(key, null, (slot, shard) => {
      words[shard + SHARD.dirty] = slot
      words[slot + SESSION.epoch] = nextEpoch(this.#view)
      freeChain(this.#view, shard, slot)
      return ++words[slot + SESSION.partition]!
    })
  }

  count(key: SessionKey, counters: Parameter<'count', 1>): void {
    this.#inSession(key, undefined, slot => addCounters(this.#view, slot, counters))
  }

  takeHint(key: SessionKey, family: number, max: number): boolean {
    if (!Number.isInteger(family) || family < 0 || family >= HINT_FAMILIES) {
      throw new RangeError(`no family of hints: ${family}`)
    }
    return this.#inSession(key, false, slot => takeHint(this.#view, slot, family, max))
  }

  summary(key: SessionKey): SessionSummary | null {
    return this.#inSession(key, null, slot => readSummary(this.#view, slot))
  }

  close(key: SessionKey): SessionSummary | null {
    return this.#inSession(key, null, (slot, shard) => {
      const summary = readSummary(this.#view, slot)
      dropSession(this.#view, shard, slot)
      return summary
    })
  }

  closeIdle(beforeMs: number): number {
    const view = this.#view
    const { words, floats } = view
    let closed = 0
    for (let i = 0; i < view.shards; i++) {
      const shard = shardAt(view, i)
      if (!tryAcquire(words, shard + SHARD.lock, this.#owner)) continue
      this.#holding(shard, () => {
        for (let slot = words[shard + SHARD.oldest]!; slot !== 0; ) {
          if (floats[(slot + SESSION.seen) >> 1]! >= beforeMs) break
          dropSession(view, shard, slot)
          closed++
          slot = words[shard + SHARD.oldest]!
        }
      })
    }
    return closed
  }

  /** The turn's session, unless it was compacted, closed or evicted since; then 0. */
  #locate({ slot, epoch, key }: Turn): number {
    const same = this.#view.words[slot + SESSION.epoch] === epoch && hasKey(this.#view, slot, key)
    return same ? slot : 0
  }

  /** The entry that this call was answered with, or 0. */
  #findCall(slot: number, callHash: number, digest: Int32Array): number {
    if (callHash === 0) return 0
    const { words } = this.#view
    return newestEntry(
      this.#view,
      slot,
      at =>
        (words[at + ENTRY.call] === callHash || words[at + ENTRY.hitCall] === callHash) &&
        sameIdentity(words, at, digest) &&
        isLive(this.#view, slot, at),
    )
  }

  /** A slot for one more entry of the session. */
  #room(shard: number, slot: number, lruSize: number): number {
    const view = this.#view
    const { words } = view
    removeEntries(view, shard, slot, at => stateOf(view, at) === STATE.refused)
    while (words[slot + SESSION.length]! >= Math.max(1, lruSize)) removeLast(view, shard, slot)
    for (;;) {
      const at = takeEntry(view, shard)
      if (at !== 0) return at
      if (words[shard + SHARD.oldest] === slot) removeLast(view, shard, slot)
      else evictOldest(view, shard)
      words[shard + SHARD.dirty] = slot
    }
  }

  #inSession<T>(key: SessionKey, unknown: T, operation: (slot: number, shard: number) => T): T {
    return this.#locked(key, shard => {
      const slot = findSession(this.#view, shard, key)
      return slot === 0 ? unknown : operation(slot, shard)
    })
  }

  #locked<T>(key: SessionKey, operation: (shard: number) => T): T {
    const shard = shardOf(this.#view, key)
    acquire(this.#view.words, shard + SHARD.lock, this.#owner, this.#maxWaitMs)
    return this.#holding(shard, () => operation(shard))
  }

  /** Runs with the shard's lock held, and releases it. A terminated thread never gets to the release. */
  #holding<T>(shard: number, operation: () => T): T {
    const { words } = this.#view
    let done = false
    try {
      const result = operation()
      done = true
      return result
    } finally {
      if (done) words[shard + SHARD.dirty] = 0
      else repairShard(this.#view, shard)
      release(words, shard + SHARD.lock)
    }
  }
}
