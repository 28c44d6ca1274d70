import { AppError } from '../core/base/errors.ts'
import type { TextBytes } from '../core/base/text-bytes.ts'
import type { LookupRequest, SessionLookup } from '../core/contract/lookup.ts'
import { IndexBusyError } from '../core/sessions/index/lock.ts'
import { sessionKey } from '../core/sessions/index/session-index.ts'
import type { SharedTurn } from '../core/sessions/journal/apply-changes.ts'
import { type Change, type SessionChanges, writeChanges } from '../core/sessions/journal/changes.ts'
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
    const opened = await Promise.all(
      lookups.map(lookup => lookup?.session && this.#open(tenant, lookup.session)),
    )
    const texts = new Map<string, TextBytes>()
    const told = new Set<string>()
    const room = createRoom(claim)
    const turns: (Result<SharedTurn> | undefined)[] = []
    for (const [i, each] of opened.entries()) {
      const session = lookups[i]?.session?.session
      if (each === undefined || session === undefined) turns.push(undefined)
      else if (!each.ok) turns.push(each)
      else {
        // The jobs run one after the other, so the first one of a session applies what is new.
        const changes = told.has(session) ? [] : each.changes
        told.add(session)
        await this.#fetch(tenant, session, { ...each, changes }, texts, room)
        turns.push({
          ...each,
          changes: changes.map(({ bytes }) => bytes),
          texts,
          timeMs: this.#options.now(),
        })
      }
    }
    return turns
  }

  async tell(tenant: string, changes: readonly SessionChanges[]): Promise<boolean> {
    const told = await Promise.all(changes.map(change => this.#append(tenant, change)))
    return told.every(({ ok }) => ok)
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

  #open(tenant: string, { session, ...result }: SessionLookup): Promise<Result<OpenedSession>> {
    const { store, sessions } = this.#options
    const key = sessionKey(tenant, session)
    const has = unlessBusy(() => sessions.index.present(key))
    const ttlMs = this.#options.ttlMs(tenant)
    const asked: OpenSession = { tenant, session, ...result, has, ttlMs }
    return store.journal?.open(asked) ?? Promise.resolve(NO_JOURNAL)
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
