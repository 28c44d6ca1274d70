import { COUNTERS, HINT_FAMILIES } from '../../../../../src/core/sessions/index/layout.ts'
import type {
  Counters,
  Entry,
  EntryMatch,
  NewEntry,
  ResultFacts,
  SessionSummary,
} from '../../../../../src/core/sessions/index/session-index.ts'

interface ModelEntry extends NewEntry {
  readonly sequence: number
  refLength: number
  state: 'pending' | 'durable' | 'refused'
  ticket: ModelTicket
  hit: { call: number; sequence: number }
}

interface ModelSession {
  partition: number
  /** A new object for each life and partition. */
  epoch: object
  results: number
  readonly openedMs: number
  seenMs: number
  /** The last used one first. */
  entries: ModelEntry[]
  readonly counters: Map<string, number>
  readonly hints: number[]
}

export interface ModelTurn {
  readonly name: string
  readonly epoch: object
  readonly sequence: number
  readonly partition: number
  readonly answered: { entry: Entry; as: 'body' | 'reference' } | null
  readonly match: Entry | null
}

export type ModelTicket = object

/**
 * The session index in the plainest way, of one shard. Sessions are in order of use, the oldest
 * first.
 */
export class IndexModel {
  readonly #sessions = new Map<string, ModelSession>()
  readonly #maxSessions: number
  readonly #maxEntries: number

  constructor(maxSessions: number, maxEntries: number) {
    this.#maxSessions = maxSessions
    this.#maxEntries = maxEntries
  }

  begin(name: string, { timeMs, callHash = 0, identity }: ResultFacts): ModelTurn {
    const session = this.#sessions.get(name) ?? this.#open(timeMs)
    this.#sessions.delete(name)
    this.#sessions.set(name, session)
    session.seenMs = Math.max(session.seenMs, timeMs)
    const { epoch, partition } = session
    const same = session.entries.filter(entry => entry.identity === identity)
    const before = same.find(
      ({ state, callHash: call, hit }) =>
        state !== 'refused' && callHash !== 0 && (call === callHash || hit.call === callHash),
    )
    if (before !== undefined) {
      const own = before.callHash === callHash
      const answered = { entry: shown(before, session), as: own ? 'body' : 'reference' } as const
      const sequence = own ? before.sequence : before.hit.sequence
      return { name, epoch, partition, sequence, answered, match: null }
    }
    const match = newest(same.filter(({ state }) => state === 'durable'))
    return {
      name,
      epoch,
      partition,
      sequence: ++session.results,
      answered: null,
      match: match === undefined ? null : shown(match, session),
    }
  }

  #open(timeMs: number): ModelSession {
    if (this.#sessions.size === this.#maxSessions) this.#evict()
    return {
      partition: 0,
      epoch: {},
      results: 0,
      openedMs: timeMs,
      seenMs: timeMs,
      entries: [],
      counters: new Map(),
      hints: Array.from({ length: HINT_FAMILIES }, () => 0),
    }
  }

  #evict(): void {
    this.#sessions.delete([...this.#sessions.keys()][0]!)
  }

  #of(turn: ModelTurn): ModelSession | undefined {
    const session = this.#sessions.get(turn.name)
    return session?.epoch === turn.epoch ? session : undefined
  }

  check(turn: ModelTurn, identity: string, toolHash?: number): Entry | null {
    const session = this.#of(turn)
    const found = newest(
      session?.entries.filter(
        entry =>
          entry.identity === identity &&
          entry.state === 'durable' &&
          (toolHash === undefined || entry.toolHash === toolHash),
      ) ?? [],
    )
    return found === undefined ? null : shown(found, session!)
  }

  record(turn: ModelTurn, entry: NewEntry, lruSize: number): ModelTicket | null {
    const session = this.#of(turn)
    if (session === undefined) return null
    const before =
      turn.answered === null
        ? undefined
        : session.entries.find(
            other =>
              other.identity === entry.identity &&
              other.state !== 'refused' &&
              (other.callHash === entry.callHash || other.hit.call === entry.callHash),
          )
    if (before !== undefined) {
      if (before.state === 'durable') return null
      before.ticket = {}
      return before.ticket
    }
    this.#sessions.delete(turn.name)
    this.#sessions.set(turn.name, session)
    session.seenMs = Math.max(session.seenMs, entry.timeMs)
    while (session.entries.length > lruSize) session.entries.pop()
    if (session.entries.length === lruSize) removeLeast(session.entries)
    while (this.#used() >= this.#maxEntries) {
      if (this.#sessions.size > 1) this.#evict()
      else removeLeast(session.entries)
    }
    const ticket = {}
    const added: ModelEntry = {
      ...entry,
      sequence: turn.sequence,
      refLength: lengthen(session.entries, entry.identity),
      state: 'pending',
      ticket,
      hit: { call: 0, sequence: 0 },
    }
    session.entries.unshift(added)
    return ticket
  }

  #used(): number {
    return [...this.#sessions.values()].reduce((sum, { entries }) => sum + entries.length, 0)
  }

  refer(turn: ModelTurn, entry: Entry, callHash: number): boolean {
    const session = this.#of(turn)
    const found = session?.entries.find(
      ({ sequence, identity, state }) =>
        sequence === entry.sequence && identity === entry.identity && state === 'durable',
    )
    if (session === undefined || found === undefined) return false
    session.entries = [found, ...session.entries.filter(other => other !== found)]
    found.hit = { call: callHash, sequence: turn.sequence }
    return true
  }

  commit(ticket: ModelTicket, kept: boolean): boolean {
    const entries = [...this.#sessions.values()].flatMap(session => session.entries)
    const found = entries.find(entry => entry.ticket === ticket && entry.state === 'pending')
    if (found === undefined) return false
    found.state = kept ? 'durable' : 'refused'
    return true
  }

  entries(name: string, pending: boolean): Entry[] {
    const session = this.#sessions.get(name)
    return (session?.entries ?? [])
      .filter(({ state }) => state === 'durable' || (pending && state === 'pending'))
      .map(entry => shown(entry, session!))
      .sort((a, b) => b.sequence - a.sequence)
  }

  invalidate(name: string, match: EntryMatch): number {
    const session = this.#sessions.get(name)
    if (session === undefined) return 0
    const wanted = Object.entries(match)
    const left = session.entries.filter(entry =>
      wanted.some(([field, value]) => entry[field as keyof EntryMatch] !== value),
    )
    const removed = session.entries.length - left.length
    session.entries = left
    return removed
  }

  compact(name: string): number | null {
    const session = this.#sessions.get(name)
    if (session === undefined) return null
    session.epoch = {}
    session.entries = []
    return ++session.partition
  }

  count(name: string, counters: Partial<Counters>): void {
    const counted = this.#sessions.get(name)?.counters
    for (const [counter, added] of Object.entries(counters)) {
      counted?.set(counter, Math.min((counted.get(counter) ?? 0) + added, 2 ** 32 - 1))
    }
  }

  takeHint(name: string, family: number, max: number): boolean {
    const hints = this.#sessions.get(name)?.hints
    if (hints === undefined || hints[family]! >= max) return false
    hints[family]!++
    return true
  }

  summary(name: string): SessionSummary | null {
    const session = this.#sessions.get(name)
    if (session === undefined) return null
    const { results, partition, openedMs, seenMs, hints, counters, entries } = session
    return {
      ...(Object.fromEntries(COUNTERS.map(name => [name, counters.get(name) ?? 0])) as Counters),
      ...{ results, partition, openedMs, seenMs, hints: [...hints] },
      entries: entries.filter(({ state }) => state !== 'refused').length,
    }
  }

  close(name: string): SessionSummary | null {
    const summary = this.summary(name)
    this.#sessions.delete(name)
    return summary
  }

  closeIdle(beforeMs: number): number {
    const idle = [...this.#sessions].filter(([, { seenMs }]) => seenMs < beforeMs)
    for (const [name] of idle) this.#sessions.delete(name)
    return idle.length
  }
}

/** The one before goes first, if it was refused. */
function removeLeast(entries: ModelEntry[]): void {
  if (entries[0]?.state === 'refused') entries.shift()
  else entries.pop()
}

function newest(entries: readonly ModelEntry[]): ModelEntry | undefined {
  return entries.toSorted((a, b) => b.sequence - a.sequence)[0]
}

function shown(entry: ModelEntry, { partition }: ModelSession): Entry {
  const { refLength, state, ticket: _, hit: __, ...known } = entry
  const ref = entry.identity.slice(0, refLength)
  return { ...known, partition, ref, durable: state === 'durable' }
}

/** The length of a new identity's reference; those that need more digits beside it get them. */
function lengthen(entries: readonly ModelEntry[], identity: string): number {
  let length = 8
  for (const other of entries) {
    if (other.identity === identity) length = Math.max(length, other.refLength)
    else {
      const common = [...identity].findIndex((digit, i) => digit !== other.identity[i])
      length = Math.max(length, common + 1)
      other.refLength = Math.max(other.refLength, common + 1)
    }
  }
  return length
}
