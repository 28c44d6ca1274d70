import { BoundedMap } from '../../core/base/bounded-map.ts'
import type { OpenedSession } from '../store.ts'

/** A session as it is, if no other process has used it since. */
export interface KnownSession
  extends Pick<OpenedSession, 'epoch' | 'partition' | 'results' | 'openedMs'> {
  /** The number of the last change. */
  readonly last: number
}

interface SessionAtWork {
  known: KnownSession | null
  /** Turns in a row that were this process's own. */
  stays: number
  /** Requests that are under way. */
  under: number
  /** Resolves when a turn ends that was not opened; others wait for it. */
  ahead: Promise<void> | null
  /** Its last calls, the newest last. */
  calls: readonly string[]
}

const MAX_SESSIONS = 10_000
/** A call that comes again so soon is looked up, since it is counted once. */
const MAX_CALLS = 16
/** After so many turns in a row a session is expected to stay, if others move. */
const MANY_STAYS = 8
const CALM_TURNS = 64

/** Which sessions stay with this process, so that their turns need not be opened. */
export class KnownSessions {
  readonly #entries = new BoundedMap<string, SessionAtWork>(MAX_SESSIONS)
  readonly #calmTurns: number
  /** Turns until sessions count as staying. */
  #caution: number

  /** @param calmTurns so many turns without a move of any session make it likely that they stay */
  constructor(calmTurns = CALM_TURNS) {
    this.#calmTurns = calmTurns
    this.#caution = calmTurns
  }

  /** A request comes to a session. @returns a turn that others wait for, if there is one */
  enter(name: string): Promise<void> | null {
    const entry = this.#entries.get(name)
    if (entry === undefined) return null
    entry.under++
    return entry.ahead
  }

  leave(name: string): void {
    const entry = this.#entries.get(name)
    if (entry !== undefined) entry.under = Math.max(0, entry.under - 1)
  }

  /** The session if the turn of a call may be settled without being opened; else `null`. */
  expected(name: string, call: string): KnownSession | null {
    const entry = this.#entries.get(name)
    if (entry === undefined || entry.under !== 1 || entry.ahead !== null) return null
    const enough = this.#caution > 0 ? MANY_STAYS : 1
    return entry.stays < enough || entry.calls.includes(call) ? null : entry.known
  }

  /** A turn begins that was not opened. @returns ends the waiting of others */
  goAhead(name: string): () => void {
    const entry = this.#entries.get(name)
    const { promise, resolve } = Promise.withResolvers<void>()
    if (entry !== undefined) entry.ahead = promise
    return () => {
      if (entry !== undefined) entry.ahead = null
      resolve()
    }
  }

  /** A turn was opened. @param call absent if it is not one alone with a name */
  opened(name: string, opened: OpenedSession, call: string | undefined): void {
    const before = this.#entries.get(name)
    const isOwn = opened.changes.length === 0 && !opened.isBroken && !opened.isUnsure
    if (before?.known != null)
      this.#caution = isOwn ? Math.max(0, this.#caution - 1) : this.#calmTurns
    const entry = before ?? { known: null, stays: 0, under: 1, ahead: null, calls: [] }
    const { epoch, partition, results, openedMs, to: last } = opened
    entry.known = { epoch, partition, results, openedMs, last }
    entry.stays = isOwn && before?.known?.epoch === epoch ? entry.stays + 1 : 0
    note(entry, call)
    this.#entries.set(name, entry)
  }

  /** A change was told. @param call of a turn that was counted by that */
  told(name: string, epoch: number, number: number, call?: string): void {
    const entry = this.#entries.get(name)
    if (entry?.known == null) return
    const { known } = entry
    const isNext = known.epoch === epoch && number - known.last <= 1
    if (!isNext) {
      this.moved(name)
      return
    }
    const results = known.results + (call === undefined ? 0 : 1)
    entry.known = { ...known, results, last: number }
    if (call !== undefined) this.#caution = Math.max(0, this.#caution - 1)
    note(entry, call)
  }

  /** Another process came to the session. */
  moved(name: string): void {
    this.forget(name)
    this.#caution = this.#calmTurns
  }

  /** The session changes otherwise than by a turn. */
  forget(name: string): void {
    const entry = this.#entries.get(name)
    if (entry === undefined) return
    entry.known = null
    entry.stays = 0
  }
}

/** Names a session of a tenant. */
export function sessionName(tenant: string, session: string): string {
  return JSON.stringify([tenant, session])
}

function note(entry: SessionAtWork, call: string | undefined): void {
  if (call !== undefined) entry.calls = [...entry.calls, call].slice(-MAX_CALLS)
}
