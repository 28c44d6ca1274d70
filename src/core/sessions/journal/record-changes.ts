import type {
  Counters,
  Entry,
  EntryMatch,
  NewEntry,
  ResultFacts,
  SessionIndex,
  SessionKey,
  Ticket,
  Turn,
} from '../index/session-index.ts'
import type { BodyMemory, KeptBody } from '../lines/body-memory.ts'
import { isNote } from '../turn/call-memory.ts'
import type { Sessions } from '../turn/shared-sessions.ts'
import type { Change } from './changes.ts'

/** The sessions as they are, and a list of what is changed in them from now on. */
export function recordChanges(sessions: Sessions): {
  readonly sessions: Sessions
  readonly changes: readonly Change[]
} {
  const changes: Change[] = []
  const add = (change: Change) => void changes.push(change)
  return {
    sessions: {
      index: new RecordedIndex(sessions.index, add),
      bodies: new RecordedBodies(sessions.bodies, add),
    },
    changes,
  }
}

type Add = (change: Change) => void

class RecordedIndex implements SessionIndex {
  readonly #index: SessionIndex
  readonly #add: Add

  constructor(index: SessionIndex, add: Add) {
    this.#index = index
    this.#add = add
  }

  record(turn: Turn, entry: NewEntry, options: { readonly lruSize: number }): Ticket | null {
    const ticket = this.#index.record(turn, entry, options)
    if (ticket !== null) this.#add({ kind: 'record', entry, ...options })
    return ticket
  }

  refer(turn: Turn, entry: Entry, callHash: number): boolean {
    const isThere = this.#index.refer(turn, entry, callHash)
    const { identity, sequence } = entry
    if (isThere) this.#add({ kind: 'refer', identity, sequence, callHash })
    return isThere
  }

  invalidate(key: SessionKey, match: EntryMatch): number {
    const removed = this.#index.invalidate(key, match)
    // Another process may have entries that this one has not.
    this.#add({ kind: 'invalidate', match })
    return removed
  }

  count(key: SessionKey, counters: Partial<Counters>): void {
    this.#index.count(key, counters)
    this.#add({ kind: 'count', counters })
  }

  takeHint(key: SessionKey, family: number, max: number): boolean {
    const isTaken = this.#index.takeHint(key, family, max)
    if (isTaken) this.#add({ kind: 'hint', family, max })
    return isTaken
  }

  present = (key: SessionKey) => this.#index.present(key)
  begin = (key: SessionKey, result: ResultFacts) => this.#index.begin(key, result)
  check = (...of: Parameters<SessionIndex['check']>) => this.#index.check(...of)
  commit = (ticket: Ticket, kept: boolean) => this.#index.commit(ticket, kept)
  entries = (...of: Parameters<SessionIndex['entries']>) => this.#index.entries(...of)
  summary = (key: SessionKey) => this.#index.summary(key)
  adopt = (...of: Parameters<SessionIndex['adopt']>) => this.#index.adopt(...of)
  applied = (...of: Parameters<SessionIndex['applied']>) => this.#index.applied(...of)
  compact = (key: SessionKey) => this.#index.compact(key)
  close = (key: SessionKey) => this.#index.close(key)
  closeIdle = (beforeMs: number) => this.#index.closeIdle(beforeMs)
}

class RecordedBodies implements BodyMemory {
  readonly #bodies: BodyMemory
  readonly #add: Add

  constructor(bodies: BodyMemory, add: Add) {
    this.#bodies = bodies
    this.#add = add
  }

  place(...of: Parameters<BodyMemory['place']>): number | null {
    const [text, , identity, note] = of
    const position = this.#bodies.place(...of)
    if (isNote(text)) this.#add({ kind: 'note', id: identity, note })
    else this.#add({ kind: 'body', identity, bytes: text.bytes.length, note })
    return position
  }

  get parts() {
    return this.#bodies.parts
  }

  get table() {
    return this.#bodies.table
  }

  confirm = (position: number) => this.#bodies.confirm(position)
  retract = (identity: string, key: SessionKey) => this.#bodies.retract(identity, key)
  isRetracted = (position: number) => this.#bodies.isRetracted(position)
  put = (...of: Parameters<BodyMemory['put']>) => this.#bodies.put(...of)
  noteOf = (identity: string, key: SessionKey) => this.#bodies.noteOf(identity, key)
  open = (position: number, key: SessionKey) => this.#bodies.open(position, key)
  isCurrent = (...of: Parameters<BodyMemory['isCurrent']>) => this.#bodies.isCurrent(...of)
  isIntact = (body: KeptBody) => this.#bodies.isIntact(body)
  clear = () => this.#bodies.clear()
  read = (identity: string, key: SessionKey) => this.#bodies.read(identity, key)
  readBytes = (identity: string, key: SessionKey) => this.#bodies.readBytes(identity, key)
  isAging = (position: number) => this.#bodies.isAging(position)
}
