import { AppError } from '../core/base/errors.ts'
import type { TextBytes } from '../core/base/text-bytes.ts'
import type { LookupRequest, SessionLookup } from '../core/contract/lookup.ts'
import { IndexBusyError } from '../core/sessions/index/lock.ts'
import { sessionKey } from '../core/sessions/index/session-index.ts'
import type { SharedTurn } from '../core/sessions/journal/apply-changes.ts'
import {
  type Change,
  joinChanges,
  type SessionChanges,
  writeChanges,
} from '../core/sessions/journal/changes.ts'
import { contextKey } from '../core/sessions/turn/open-turn.ts'
import type { Sessions } from '../core/sessions/turn/shared-sessions.ts'
import { fail, valueOr } from './failure.ts'
import type { OpenedSession, OpenSession, Result, Store } from './store.ts'

/** Sessions that other processes have too, through the journal of their store. */
export interface SessionSharing {
  /**
   * What the jobs of one request must know of their sessions, `undefined` for a job without one. A
   * failure if it is unknown what other processes did there: then the job is answered without.
   */
  resolve(
    tenant: string,
    lookups: readonly (LookupRequest | null)[],
    claim: Claim,
  ): Promise<readonly (Result<SharedTurn> | undefined)[]>
  /** Tells others what an answer changed. @returns false if it must not leave */
  tell(tenant: string, changes: readonly SessionChanges[]): Promise<boolean>
  /** Compacts for all processes. @throws AppError if it is unknown whether that happened */
  compact(tenant: string, session: string): Promise<number | null>
  /** Tells of changes that are no result's. @throws AppError as `compact` */
  change(tenant: string, session: string, changes: readonly Change[]): Promise<void>
}

/** Claims room for the bytes of a text. @throws AppError if there is none */
type Claim = (bytes: number) => void

export interface SharingOptions {
  readonly store: Pick<Store, 'journal' | 'get'>
  readonly sessions: Sessions
  /** How long a tenant's sessions live without a turn, in milliseconds. */
  ttlMs(tenant: string): number
  /** Unix milliseconds. */
  now(): number
}

/** Bytes of the texts that one request brings from the store, at most. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024

/** Results that one call counts, at most: it keeps Redis from other work. */
const MAX_JOBS = 100

/** Changes of one session that one call tells, at most, unless one alone is larger. */
const MAX_GROUP_BYTES = 32 * 1024

/** The store gives a journal once it is open. */
export function createSessionSharing(options: SharingOptions): SessionSharing {
  return new Sharing(options)
}

const NO_JOURNAL = fail('unavailable', 'the store cannot be opened')

class Sharing implements SessionSharing {
  readonly #options: SharingOptions

  constructor(options: SharingOptions) {
    this.#options = options
  }

  async resolve(tenant: string, lookups: readonly (LookupRequest | null)[], claim: Claim) {
    const jobs = lookups.flatMap((lookup, index) =>
      lookup?.session === undefined ? [] : [{ ...lookup.session, index }],
    )
    const bySession = [...Map.groupBy(jobs, ({ session }) => session).values()]
    const groups = await Promise.all(bySession.map(each => this.#openAll(tenant, each)))
    const texts = new Map<string, TextBytes>()
    const room = createRoom(claim)
    const turns: (Result<SharedTurn> | undefined)[] = lookups.map(() => undefined)
    for (const { jobs, opened } of groups.flat()) {
      if (opened.ok) await this.#fetch(tenant, jobs[0]!.session, opened, texts, room)
      const timeMs = this.#options.now()
      const found = turnsOf(jobs, opened, { texts, timeMs })
      for (const [i, { index }] of jobs.entries()) turns[index] = found[i]
    }
    return turns
  }

  async tell(tenant: string, changes: readonly SessionChanges[]): Promise<boolean> {
    const bySession = Map.groupBy(changes, ({ session, epoch }) => `${epoch} ${session}`)
    const told = await Promise.all(
      [...bySession.values()].map(ofSession => this.#appendAll(tenant, ofSession)),
    )
    return !told.includes(false)
  }

  async compact(tenant: string, session: string): Promise<number | null> {
    const { store } = this.#options
    const named = { tenant, session, ttlMs: this.#options.ttlMs(tenant) }
    const { partition } = valueOr((await store.journal?.compact(named)) ?? NO_JOURNAL)
    return partition
  }

  async change(tenant: string, session: string, changes: readonly Change[]): Promise<void> {
    const { store, now } = this.#options
    const bytes = writeChanges({ sequence: 0, timeMs: now(), changes })
    const ttlMs = this.#options.ttlMs(tenant)
    const change = { tenant, session, bytes, texts: [], ttlMs }
    valueOr((await store.journal?.append(change)) ?? NO_JOURNAL)
  }

  /** Opens a session for jobs that come to it, in their order. */
  async #openAll(tenant: string, jobs: readonly Job[]): Promise<readonly OpenedGroup[]> {
    const { store, sessions } = this.#options
    const { session } = jobs[0]!
    const ttlMs = this.#options.ttlMs(tenant)
    let has: OpenSession['has'] = unlessBusy(() =>
      sessions.index.present(sessionKey(tenant, session)),
    )
    const groups: OpenedGroup[] = []
    for (let at = 0; at < jobs.length; at += MAX_JOBS) {
      const some = jobs.slice(at, at + MAX_JOBS)
      const calls = some.flatMap(({ isCounted, call = '' }) => (isCounted ? [call] : []))
      const asked: OpenSession = { tenant, session, calls, has, ttlMs }
      const opened = (await store.journal?.open(asked)) ?? NO_JOURNAL
      groups.push({ jobs: some, opened })
      // By then the jobs of this group have applied what they were told.
      if (opened.ok) has = { epoch: opened.epoch, applied: opened.to }
    }
    return groups
  }

  /** Tells what a session's results changed, in their order, in few calls. */
  async #appendAll(tenant: string, changes: readonly SessionChanges[]): Promise<boolean> {
    for (const change of inGroups(changes)) {
      if (!(await this.#append(tenant, change)).ok) return false
    }
    return true
  }

  async #append(tenant: string, change: SessionChanges): Promise<Result<object>> {
    const { store, sessions } = this.#options
    const { session, epoch } = change
    const ttlMs = this.#options.ttlMs(tenant)
    const told = (await store.journal?.append({ tenant, ttlMs, ...change })) ?? NO_JOURNAL
    if (!told.ok) return told
    const { number } = told
    // If a worker is using the session, the change comes back with the next turn.
    unlessBusy(() => sessions.index.applied(sessionKey(tenant, session), { epoch, number }))
    return told
  }

  /** Brings the texts that this process does not have, the newest first. */
  async #fetch(
    tenant: string,
    session: string,
    { epoch, changes }: Pick<OpenedSession, 'epoch' | 'changes'>,
    texts: Map<string, TextBytes>,
    room: Room,
  ): Promise<void> {
    const { store, sessions } = this.#options
    const context = contextKey(sessionKey(tenant, session), epoch)
    const missing = new Set<string>()
    for (const { identity, bytes } of changes.flatMap(change => change.texts).reverse()) {
      if (missing.has(identity) || texts.has(identity)) continue
      if (sessions.bodies.noteOf(identity, context) !== null) continue
      if (room.take(bytes)) missing.add(identity)
    }
    await Promise.all(
      [...missing].map(async ref => {
        const found = await store.get({ tenant, ref })
        if (found.ok) texts.set(ref, { bytes: found.body, media_type: found.media_type })
      }),
    )
  }
}

/** A job of a request, with its index, that comes to a session. */
interface Job extends SessionLookup {
  readonly index: number
}

interface OpenedGroup {
  readonly jobs: readonly Job[]
  readonly opened: Result<OpenedSession>
}

/** What each job must know. They run one after the other, so the first one applies what is new. */
function turnsOf(
  jobs: readonly Job[],
  opened: Result<OpenedSession>,
  known: Pick<SharedTurn, 'texts' | 'timeMs'>,
): readonly Result<SharedTurn>[] {
  if (!opened.ok) return jobs.map(() => opened)
  const { sequences, changes, ...shared } = opened
  const left = [...sequences]
  return jobs.map(({ isCounted }, i) => ({
    ...shared,
    ...known,
    ...(isCounted ? { sequence: left.shift()! } : {}),
    changes: i === 0 ? changes.map(({ bytes }) => bytes) : [],
  }))
}

/** Joins changes, as long as a call does not become large by them. */
function inGroups(changes: readonly SessionChanges[]): readonly SessionChanges[] {
  const groups: SessionChanges[][] = []
  let left = 0
  for (const change of changes) {
    left -= change.bytes.length
    if (left < 0) {
      groups.push([])
      left = MAX_GROUP_BYTES - change.bytes.length
    }
    groups.at(-1)?.push(change)
  }
  return groups.map(joinChanges)
}

/** The room that the texts of one request may take. */
interface Room {
  /** Whether there is room for a text. */
  take(bytes: number): boolean
}

function createRoom(claim: Claim): Room {
  let left = MAX_TEXT_BYTES
  return {
    take(bytes) {
      if (bytes > left) return false
      try {
        claim(bytes)
        left -= bytes
        return true
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        left = 0
        return false
      }
    },
  }
}

/** The main thread does not wait for a lock of the index; then the answer is `null`. */
function unlessBusy<T>(act: () => T): T | null {
  try {
    return act()
  } catch (error) {
    if (error instanceof IndexBusyError) return null
    throw error
  }
}
