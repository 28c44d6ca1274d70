import { createIdentityReader } from './identity.ts'
import { ENTRY, HINT_FAMILIES, type IndexView, SHARD, STATE, shardAt, viewIndex } from './layout.ts'
import { acquire, release, tryAcquire } from './lock.ts'
import { repairShard } from './owners.ts'
import { beginTurn, checkBody, noteReference, recordBody } from './results.ts'
import type {
  Counters,
  Entry,
  EntryMatch,
  NewEntry,
  ResultFacts,
  SessionIndex,
  SessionKey,
  SessionSummary,
  SharedState,
  Ticket,
  Turn,
} from './session-index.ts'
import { shardOf } from './session-table.ts'
import {
  addCounters,
  adoptSession,
  closeSession,
  compactSession,
  dropIdle,
  invalidateEntries,
  noteApplied,
  readEntries,
  readPresent,
  readSummary,
  takeHint,
} from './sessions.ts'

export interface AttachOptions {
  /** Number of the calling thread, from 1; no two living threads have the same. */
  readonly owner: number
  /**
   * How long a call may sleep for a lock; without, until the lock is free. For the main thread: a
   * few milliseconds.
   */
  readonly maxWaitMs?: number
}

const NO_IDENTITY = '0'.repeat(64)

/**
 * The index as one thread uses it.
 * @throws TypeError for memory that is no index, RangeError for an owner that is no positive 30-bit
 * number
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

  present(key: SessionKey): ReturnType<typeof readPresent> {
    return this.#locked(key, readPresent, key, undefined, undefined)
  }

  adopt(key: SessionKey, state: SharedState): boolean {
    return this.#locked(key, adoptSession, key, state, undefined)
  }

  applied(key: SessionKey, change: Parameter<'applied', 1>): void {
    this.#locked(key, noteApplied, key, change, undefined)
  }

  begin(key: SessionKey, result: ResultFacts): Turn {
    const digest = this.#identities.read(result.identity ?? NO_IDENTITY)
    return this.#locked(key, beginTurn, key, result, digest)
  }

  check(turn: Turn, identity: string, { toolHash }: Parameter<'check', 2> = {}): Entry | null {
    const digest = this.#identities.read(identity)
    return this.#locked(turn.key, checkBody, turn, digest, { identity, toolHash })
  }

  record(turn: Turn, entry: NewEntry, { lruSize }: Parameter<'record', 2>): Ticket | null {
    const digest = this.#identities.read(entry.identity)
    return this.#locked(turn.key, recordBody, turn, digest, { entry, lruSize })
  }

  refer(turn: Turn, { identity, sequence }: Entry, callHash: number): boolean {
    const digest = this.#identities.read(identity)
    return this.#locked(turn.key, noteReference, turn, digest, { sequence, callHash })
  }

  commit({ slot, stamp }: Ticket, kept: boolean): boolean {
    const pending = (stamp << 2) | STATE.pending
    const committed = (stamp << 2) | (kept ? STATE.durable : STATE.refused)
    return (
      Atomics.compareExchange(this.#view.words, slot + ENTRY.state, pending, committed) === pending
    )
  }

  entries(key: SessionKey, { pending = false }: Parameter<'entries', 1> = {}): Entry[] {
    return this.#locked(key, readEntries, key, pending, undefined)
  }

  invalidate(key: SessionKey, match: EntryMatch): number {
    return this.#locked(key, invalidateEntries, key, match, undefined)
  }

  compact(key: SessionKey): number | null {
    return this.#locked(key, compactSession, key, undefined, undefined)
  }

  count(key: SessionKey, counters: Partial<Counters>): void {
    this.#locked(key, addCounters, key, counters, undefined)
  }

  takeHint(key: SessionKey, family: number, max: number): boolean {
    if (!Number.isInteger(family) || family < 0 || family >= HINT_FAMILIES) {
      throw new RangeError(`no family of hints: ${family}`)
    }
    return this.#locked(key, takeHint, key, family, max)
  }

  summary(key: SessionKey): SessionSummary | null {
    return this.#locked(key, readSummary, key, undefined, undefined)
  }

  close(key: SessionKey): SessionSummary | null {
    return this.#locked(key, closeSession, key, undefined, undefined)
  }

  closeIdle(beforeMs: number): number {
    const { words, shards } = this.#view
    let closed = 0
    for (let i = 0; i < shards; i++) {
      const shard = shardAt(this.#view, i)
      if (!tryAcquire(words, shard + SHARD.lock, this.#owner)) continue
      closed += this.#holding(shard, dropIdle, beforeMs, undefined, undefined)
    }
    return closed
  }

  #locked<A, B, C, T>(key: SessionKey, operation: Operation<A, B, C, T>, a: A, b: B, c: C): T {
    const { words } = this.#view
    const shard = shardOf(this.#view, key)
    const lock = shard + SHARD.lock
    if (!tryAcquire(words, lock, this.#owner)) acquire(words, lock, this.#owner, this.#maxWaitMs)
    return this.#holding(shard, operation, a, b, c)
  }

  /**
   * Runs an operation with the shard's lock held, and releases it. A terminated thread never gets
   * to the release. Arguments are passed on one by one, because to make a closure for each call
   * costs more than most operations do.
   */
  #holding<A, B, C, T>(shard: number, operation: Operation<A, B, C, T>, a: A, b: B, c: C): T {
    const { words } = this.#view
    try {
      const result = operation(this.#view, shard, a, b, c)
      words[shard + SHARD.dirty] = 0
      return result
    } catch (error) {
      repairShard(this.#view, shard)
      throw error
    } finally {
      release(words, shard + SHARD.lock)
    }
  }
}

type Operation<A, B, C, T> = (view: IndexView, shard: number, a: A, b: B, c: C) => T
