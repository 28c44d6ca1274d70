import { hash } from 'node:crypto'
import type { Failure, Result } from '../store.ts'
import { STAGED_MS } from './chunks.ts'
import type { Argument, Connection } from './connection.ts'
import { isAway, STRANGE, UNREACHABLE } from './failures.ts'
import type { Library } from './library.ts'
import { type KeptWrite, type RecentWrite, RecentWrites } from './recent-writes.ts'
import { MISSING, sendInTime } from './send.ts'

export interface RepairOptions {
  readonly library: Library
  readonly callTimeoutMs: number
  /** How long a write is kept at least, in milliseconds. */
  readonly repairMs: number
  /** Bytes of them that are kept at most. */
  readonly repairBytes: number
}

/** What became of the writes that another server had answered. */
export interface Repaired {
  readonly written: number
  /** Writes that a later one of another process has replaced. */
  readonly replaced: number
  /** Writes that cannot be made yet. */
  readonly left: number
}

/** Calls that are made at once, and bytes of them. */
const CALLS_AT_ONCE = 64
const BYTES_AT_ONCE = 1024 * 1024
/** A write that could not be made so often is lost. */
const MAX_TRIES = 30
/** They are made first: what follows must not be purged after it was written. */
const PURGES: ReadonlySet<string> = new Set(['disown_session', 'disown_tenant'])
/** Why a call may do better a little later: another process has not made its calls again yet. */
const NOT_YET: ReadonlySet<string> = new Set(['later', 'not_found', 'need', 'busy'])
const DONE: ReadonlySet<string> = new Set(['kept', 'created', 'ok'])

/**
 * Keeps what this process wrote lately, and writes it again if the primary turns out to be another
 * one, or to have forgotten. Nothing here overwrites what another process has written since.
 */
export class Repair {
  readonly #options: RepairOptions
  readonly #writes: RecentWrites
  readonly #replication = new Replication()
  #server = ''
  #isPending = false
  #lost = 0
  #written = 0
  /** Which version replaced which, of records that were written again. */
  readonly #versions = new Map<string, string>()

  constructor(options: RepairOptions) {
    this.#options = options
    this.#writes = new RecentWrites(options.repairBytes)
  }

  /** What the present server is called; empty: none was seen yet. */
  get server(): string {
    return this.#server
  }

  /** Bytes that could be written again now. */
  get bytes(): number {
    return this.#writes.bytes
  }

  /** Writes that were made again, and those that could not be, since the start. */
  get counts() {
    return { written: this.#written, lost: this.#lost, dropped: this.#writes.dropped }
  }

  /** @param isSure whether the present server has answered it, and not one before */
  note(write: RecentWrite, isSure: boolean): void {
    if (!isSure) this.#isPending = true
    this.#writes.add(write, isSure ? this.#server : '', performance.now())
  }

  /**
   * Looks at what the primaries said.
   * @param fence the server's; empty if it has none
   * @returns whether it is another server than before, so that `redo` must be called
   */
  see(infos: readonly string[], fence: string, askedMs: number): boolean {
    const server = generationOf(infos, fence)
    const isOther = this.#server !== '' && server !== this.#server
    if (this.#server !== server) this.#replication.reset()
    this.#server = server
    if (isOther) {
      this.#versions.clear()
      this.#isPending = true
    }
    const [first = ''] = infos
    if (infos.length === 1) this.#replication.heard(first, askedMs)
    const safeMs = infos.length === 1 ? this.#replication.safeMs : askedMs
    if (!this.#isPending) this.#writes.forget(Math.min(askedMs - this.#options.repairMs, safeMs))
    return isOther
  }

  /** What a purge removed is not written again, also on a server that has forgotten the purge. */
  forgetPurged(root: string, generation: string): void {
    this.#writes.drop(({ name, root: of, guard }) => {
      const isIn = guard === generation || guard.startsWith(`${generation}:`)
      return of === root && isIn && !PURGES.has(name)
    })
  }

  /** Whether some writes wait to be made again. */
  get isPending(): boolean {
    return this.#isPending
  }

  /** Makes the calls again that another server had answered. Stops at the first that finds none. */
  async redo(connection: Connection): Promise<Result<Repaired>> {
    const sum = { written: 0, replaced: 0, left: 0 }
    const all = this.#writes.notOn(this.#server)
    this.#isPending = false
    const purges = all.filter(({ write }) => PURGES.has(write.name))
    const others = all.filter(({ write }) => !PURGES.has(write.name))
    for (const some of [...inGroups(purges), ...inGroups(others)]) {
      const outcomes = await Promise.all(some.map(({ write }) => this.#make(connection, write)))
      for (const [i, outcome] of outcomes.entries()) {
        if (typeof outcome === 'object' && isAway(outcome)) {
          this.#isPending = true
          return outcome
        }
        sum[this.#settle(some[i]!, typeof outcome === 'string' ? outcome : 'busy')]++
      }
    }
    this.#written += sum.written
    return { ok: true, ...sum }
  }

  #settle(kept: KeptWrite, outcome: string): keyof Repaired {
    kept.tries++
    if (NOT_YET.has(outcome) && kept.tries < MAX_TRIES) {
      this.#isPending = true
      return 'left'
    }
    kept.server = this.#server
    kept.atMs = performance.now()
    kept.tries = 0
    if (DONE.has(outcome)) return 'written'
    if (outcome === 'conflict') kept.write.onReplaced?.()
    // A purge came after it, or another process has it otherwise.
    if (outcome === 'later' || outcome === 'conflict') return 'replaced'
    this.#lost++
    return 'left'
  }

  async #make(connection: Connection, write: RecentWrite): Promise<string | Failure> {
    const { library, callTimeoutMs } = this.#options
    const { name, root, session, guard, version, staged = [] } = write
    const send = (key: string, args: readonly Argument[]) =>
      sendInTime(connection, key, args, callTimeoutMs)
    const chunks = staged.map(([key, chunk]) =>
      send(key, ['SET', key, chunk, 'PX', `${STAGED_MS}`, 'NX']),
    )
    const redo = library.functionOf(PURGES.has(name) ? 'redo_purge' : 'redo')
    const args = this.#onVersion(write)
    const command = ['FCALL', redo, '1', root, guard, session, name, ...args]
    let answer = await send(root, command)
    if (answer === MISSING) {
      await send(root, ['FUNCTION', 'LOAD', 'REPLACE', library.text])
      answer = await send(root, command)
    }
    for (const each of await Promise.all(chunks)) if (each !== MISSING && !each.ok) return each
    if (answer === MISSING) return UNREACHABLE
    if (!answer.ok) return answer
    if (!Array.isArray(answer.reply)) return STRANGE
    const outcome = String(answer.reply[0])
    // A purge that finds another guard was not lost, or has been made again.
    if (PURGES.has(name)) return outcome === 'later' ? 'conflict' : 'ok'
    if (outcome === 'ok' && version !== undefined)
      this.#versions.set(`${recordOf(write)} ${version}`, `${answer.reply[1]}`)
    return outcome
  }

  /** The arguments, with the version that the record has on this server. */
  #onVersion(write: RecentWrite): readonly Argument[] {
    const { args, version } = write
    if (version === undefined) return args
    const expected = this.#versions.get(`${recordOf(write)} ${args[VERSION_AT]}`)
    return expected === undefined ? args : args.toSpliced(VERSION_AT, 1, expected)
  }
}

/** Where the arguments of writing a record have the version that must be there. */
const VERSION_AT = 3

function recordOf({ root, args }: RecentWrite): string {
  return `${root}${args[1]}`
}

/** Writes that are made at once. One that follows another of the same record comes after it. */
function* inGroups(writes: readonly KeptWrite[]): Generator<readonly KeptWrite[]> {
  let group: KeptWrite[] = []
  let bytes = 0
  const records = new Set<string>()
  for (const kept of writes) {
    const record = kept.write.version === undefined ? '' : recordOf(kept.write)
    const isFull = group.length === CALLS_AT_ONCE || bytes + kept.bytes > BYTES_AT_ONCE
    if (group.length > 0 && (isFull || records.has(record))) {
      yield group
      group = []
      bytes = 0
      records.clear()
    }
    group.push(kept)
    bytes += kept.bytes
    if (record !== '') records.add(record)
  }
  if (group.length > 0) yield group
}

const RUN_ID = /run_id:(\w+)/
const HISTORY = /master_replid:(\w+)/
const OFFSET = /master_repl_offset:(\d+)/
const REPLICA = /^slave\d+:.*state=online,offset=(\d+)/gm
const NAME_DIGITS = 8

/**
 * Names what a server remembers: it differs after a restart, a failover and a flush, since each may
 * have lost writes.
 * @param infos answers to `INFO` of all primaries
 * @param fence what a process has written when the server was empty
 */
export function generationOf(infos: readonly string[], fence: string): string {
  const ids = infos.map(info => `${RUN_ID.exec(info)?.[1]} ${HISTORY.exec(info)?.[1]}`)
  return hash('sha256', JSON.stringify([ids.sort(), fence])).slice(0, NAME_DIGITS)
}

/** Until when a primary's writes are on a replica. */
export class Replication {
  /** The primary's offsets, with when they were asked for; the oldest first. */
  #marks: { readonly askedMs: number; readonly offset: number }[] = []
  #safeMs = Number.NEGATIVE_INFINITY
  #hadReplicaMs = Number.NEGATIVE_INFINITY

  /** @param info the primary's answer @param askedMs when it was asked */
  heard(info: string, askedMs: number): void {
    const acknowledged = [...info.matchAll(REPLICA)].map(([, offset]) => Number(offset))
    if (acknowledged.length > 0) this.#hadReplicaMs = askedMs
    else if (askedMs - this.#hadReplicaMs > FORGOTTEN_MS) {
      // It has none, so there is nothing to wait for.
      this.#marks = []
      this.#safeMs = askedMs
      return
    }
    const most = acknowledged.reduce((a, b) => Math.max(a, b), -1)
    const next = this.#marks.findIndex(({ offset }) => offset > most)
    const passed = next < 0 ? this.#marks.length : next
    if (passed > 0) this.#safeMs = this.#marks[passed - 1]!.askedMs
    this.#marks.splice(0, passed)
    this.#marks.push({ askedMs, offset: Number(OFFSET.exec(info)?.[1] ?? 0) })
    // A replica that stays away for long: every other mark is enough.
    if (this.#marks.length > MAX_MARKS) this.#marks = this.#marks.filter((_, i) => i % 2 === 1)
  }

  /** What was written before this moment is on a replica, if there is one. */
  get safeMs(): number {
    return this.#safeMs
  }

  /** Another primary's offsets have nothing to do with these. */
  reset(): void {
    this.#marks = []
    this.#safeMs = Number.NEGATIVE_INFINITY
  }
}

/** After so long a primary whose replicas are away counts as one that has none. */
const FORGOTTEN_MS = 600_000
const MAX_MARKS = 1_000
