import type { TextBytes } from '../../core/base/text-bytes.ts'
import type { LookupRequest, SessionLookup } from '../../core/contract/lookup.ts'
import { IndexBusyError } from '../../core/sessions/index/lock.ts'
import { sessionKey } from '../../core/sessions/index/session-index.ts'
import type { SharedTurn } from '../../core/sessions/journal/apply-changes.ts'
import { joinChanges, type SessionChanges } from '../../core/sessions/journal/changes.ts'
import { contextKey } from '../../core/sessions/turn/open-turn.ts'
import type { Sessions } from '../../core/sessions/turn/shared-sessions.ts'
import type { OpenedSession, OpenSession, Result, Store } from '../store.ts'
import { fail } from '../values/failure.ts'
import { type Claim, createRoom, type Room } from '../values/text-room.ts'
import { type KnownSession, type KnownSessions, sessionName } from './known-sessions.ts'

export interface SharingOptions {
  readonly store: Pick<Store, 'journal' | 'get'>
  readonly sessions: Sessions
  /** How long a tenant's sessions live without a turn, in milliseconds. */
  ttlMs(tenant: string): number
  /** Unix milliseconds. */
  now(): number
  /** Seam for tests: see `KnownSessions`. */
  readonly calmTurns?: number
}

/** Results that one call counts, at most: it keeps Redis from other work. */
const MAX_JOBS = 100

/** Changes of one session that one call tells, at most, unless one alone is larger. */
const MAX_GROUP_BYTES = 32 * 1024

const NO_TEXTS: ReadonlyMap<string, TextBytes> = new Map()

/** The store gives a journal once it is open. */
export const NO_JOURNAL = fail('unavailable', 'the store cannot be opened')

/** A turn that was not opened, because its session seems to stay here. */
interface Ahead {
  readonly session: string
  readonly call: string
  readonly known: KnownSession
  /** Whether it is counted, or its session began again. */
  isOver: boolean
  done(): void
}

/** What one request does in sessions that other processes have too. */
export class SharedTurns {
  readonly #tenant: string
  readonly #options: SharingOptions
  readonly #known: KnownSessions
  /** The sessions that the request came to. */
  #entered: readonly string[] = []
  #ahead: Ahead | null = null
  #hasMoved = false

  constructor(tenant: string, options: SharingOptions, known: KnownSessions) {
    this.#tenant = tenant
    this.#options = options
    this.#known = known
  }

  /**
   * What the jobs of the request must know of their sessions, `undefined` for a job without one. A
   * failure if it is unknown what other processes did there: then the job is answered without.
   */
  async resolve(lookups: readonly (LookupRequest | null)[], claim: Claim) {
    const tenant = this.#tenant
    const jobs = lookups.flatMap((lookup, index) =>
      lookup?.session === undefined ? [] : [{ ...lookup.session, index }],
    )
    const bySession = [...Map.groupBy(jobs, ({ session }) => session).values()]
    const names = bySession.map(([first]) => sessionName(tenant, first!.session))
    this.#entered = [...this.#entered, ...names]
    for (const name of names) await this.#known.enter(name)
    const groups = await Promise.all(bySession.map(each => this.#openAll(each)))
    const texts = new Map<string, TextBytes>()
    const room = createRoom(claim)
    const turns: (Result<SharedTurn> | undefined)[] = lookups.map(() => undefined)
    for (const { jobs, opened } of groups.flat()) {
      if (opened.ok) await this.#fetch(jobs[0]!.session, opened, texts, room)
      const timeMs = this.#options.now()
      const found = turnsOf(jobs, opened, { texts, timeMs })
      for (const [i, { index }] of jobs.entries()) turns[index] = found[i]
    }
    return turns
  }

  /** Whether the session is another one than the answer was made for, so that it must not leave. */
  get hasMoved(): boolean {
    return this.#hasMoved
  }

  /** Tells others what an answer changed. @returns false if it must not leave */
  async tell(changes: readonly SessionChanges[]): Promise<boolean> {
    const ahead = this.#ahead
    if (ahead !== null && !ahead.isOver) {
      if (changes.length <= 1) return this.#settle(ahead, changes[0])
      return false
    }
    const bySession = Map.groupBy(changes, ({ session, epoch }) => `${epoch} ${session}`)
    const told = await Promise.all(
      [...bySession.values()].map(ofSession => this.#appendAll(ofSession)),
    )
    return !told.includes(false)
  }

  /** Called before the answer leaves, whatever it is: no turn may stay uncounted. Never rejects. */
  async end(): Promise<void> {
    const ahead = this.#ahead
    if (ahead !== null && !ahead.isOver) await this.#count(ahead)
    ahead?.done()
    this.#ahead = null
    for (const name of this.#entered) this.#known.leave(name)
    this.#entered = []
  }

  /** Counts a turn that was not opened, and whose request failed. */
  async #count(ahead: Ahead): Promise<void> {
    const { store } = this.#options
    const tenant = this.#tenant
    const { session, call, known } = ahead
    const named = { tenant, session, ttlMs: this.#options.ttlMs(tenant) }
    this.#known.forget(sessionName(tenant, session))
    const opened = (await store.journal?.open({ ...named, calls: [call], has: null })) ?? NO_JOURNAL
    const isExpected =
      opened.ok && opened.epoch === known.epoch && opened.sequences[0] === known.results + 1
    if (!isExpected) await this.#restart(ahead)
  }

  /** Counts a turn that was not opened, and tells what it changed. */
  async #settle(ahead: Ahead, change: SessionChanges | undefined): Promise<boolean> {
    const { store, sessions } = this.#options
    const tenant = this.#tenant
    const { session, call, known } = ahead
    const { epoch, results, last } = known
    const told = change ?? { bytes: new Uint8Array(0), texts: [] }
    const ttlMs = this.#options.ttlMs(tenant)
    const turn = { ...told, tenant, session, epoch, ttlMs, call, results, last }
    const settled = (await store.journal?.settle(turn)) ?? NO_JOURNAL
    if (!settled.ok) {
      await this.#restart(ahead)
      return false
    }
    const { number } = settled
    ahead.isOver = true
    this.#known.told(sessionName(tenant, session), epoch, number, call)
    unlessBusy(() => sessions.index.applied(sessionKey(tenant, session), { epoch, number }))
    return true
  }

  /** Lets a session begin again. Its turn may be counted or not, and its answer is another one. */
  async #restart(ahead: Ahead): Promise<void> {
    const { store, sessions } = this.#options
    const tenant = this.#tenant
    const { session } = ahead
    const named = { tenant, session, ttlMs: this.#options.ttlMs(tenant) }
    ahead.isOver = true
    this.#hasMoved = true
    this.#known.moved(sessionName(tenant, session))
    // It is counted first, so that a retry is known as one from before, on every process.
    await store.journal?.open({ ...named, calls: [ahead.call], has: null })
    await store.journal?.restart(named)
    // The answer says the partition, which another process may have begun.
    const opened = await store.journal?.open({ ...named, calls: [], has: null })
    const key = sessionKey(tenant, session)
    if (opened?.ok === false && opened.reason === 'not_found')
      unlessBusy(() => sessions.index.close(key))
    if (opened?.ok !== true) return
    const state = { ...opened, timeMs: this.#options.now(), from: 0, to: 0, isBroken: false }
    unlessBusy(() => sessions.index.adopt(key, state))
  }

  /** What the only job of a request must know, if its session seems to stay here. */
  #expect({ session, isCounted, call }: Job): OpenedSession | null {
    const { store, sessions } = this.#options
    const tenant = this.#tenant
    if (!isCounted || call === undefined || this.#entered.length !== 1) return null
    const name = sessionName(tenant, session)
    const known = this.#known.expected(name, call)
    if (known === null || store.journal?.isSure({ tenant, session }) !== true) return null
    const has = unlessBusy(() => sessions.index.present(sessionKey(tenant, session)))
    if (has?.epoch !== known.epoch || has.applied !== known.last) return null
    const done = this.#known.goAhead(name)
    this.#ahead = { session, call, known, isOver: false, done }
    const { last, ...rest } = known
    const results = known.results + 1
    const sequences = [results]
    const none = { isBroken: false, isUnsure: false, changes: [], texts: NO_TEXTS }
    return { ...rest, results, sequences, from: last, to: last, ...none }
  }

  /** Opens a session for jobs that come to it, in their order. */
  async #openAll(jobs: readonly Job[]): Promise<readonly OpenedGroup[]> {
    const { store, sessions } = this.#options
    const tenant = this.#tenant
    const [first] = jobs as [Job]
    const { session } = first
    const expected = jobs.length === 1 ? this.#expect(first) : null
    if (expected !== null) return [{ jobs, opened: { ok: true, ...expected } }]
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
      const name = sessionName(tenant, session)
      if (opened.ok) this.#known.opened(name, opened, jobs.length === 1 ? first.call : undefined)
      else this.#known.forget(name)
      // By then the jobs of this group have applied what they were told.
      if (opened.ok) has = { epoch: opened.epoch, applied: opened.to }
    }
    return groups
  }

  /** Tells what a session's results changed, in their order, in few calls. */
  async #appendAll(changes: readonly SessionChanges[]): Promise<boolean> {
    for (const change of inGroups(changes)) {
      if (!(await this.#append(change)).ok) return false
    }
    return true
  }

  async #append(change: SessionChanges): Promise<Result<object>> {
    const { store, sessions } = this.#options
    const tenant = this.#tenant
    const { session, epoch } = change
    const ttlMs = this.#options.ttlMs(tenant)
    const told = (await store.journal?.append({ tenant, ttlMs, ...change })) ?? NO_JOURNAL
    const name = sessionName(tenant, session)
    if (!told.ok) {
      this.#known.forget(name)
      return told
    }
    const { number } = told
    this.#known.told(name, epoch, number)
    // If a worker is using the session, the change comes back with the next turn.
    unlessBusy(() => sessions.index.applied(sessionKey(tenant, session), { epoch, number }))
    return told
  }

  /** Brings the texts that this process does not have, the newest first. */
  async #fetch(
    session: string,
    { epoch, changes, texts: along }: Pick<OpenedSession, 'epoch' | 'changes' | 'texts'>,
    texts: Map<string, TextBytes>,
    room: Room,
  ): Promise<void> {
    const { store, sessions } = this.#options
    const tenant = this.#tenant
    const context = contextKey(sessionKey(tenant, session), epoch)
    const missing = new Set<string>()
    for (const { identity, bytes } of changes.flatMap(change => change.texts).reverse()) {
      if (missing.has(identity) || texts.has(identity)) continue
      if (sessions.bodies.noteOf(identity, context) !== null) continue
      if (!room.take(bytes)) continue
      const text = along.get(identity)
      if (text === undefined) missing.add(identity)
      else texts.set(identity, text)
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
  const { sequences, changes, texts: _, ...shared } = opened
  const left = [...sequences]
  let isFirst = true
  return jobs.map(({ isCounted }) => {
    const sequence = isCounted ? left.shift()! : undefined
    if (sequence === 0) return AGAIN
    const turn = {
      ...shared,
      ...known,
      ...(sequence === undefined ? {} : { sequence }),
      changes: isFirst ? changes : [],
    }
    isFirst = false
    return turn
  })
}

/** A call that came before the session began again is answered by itself. */
const AGAIN = fail('conflict', 'the session began again after this call')

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

/** The main thread does not wait for a lock of the index; then the answer is `null`. */
function unlessBusy<T>(act: () => T): T | null {
  try {
    return act()
  } catch (error) {
    if (error instanceof IndexBusyError) return null
    throw error
  }
}
