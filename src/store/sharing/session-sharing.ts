import { type Change, writeChanges } from '../../core/sessions/journal/changes.ts'
import { valueOr } from '../values/failure.ts'
import { KnownSessions, sessionName } from './known-sessions.ts'
import { NO_JOURNAL, SharedTurns, type SharingOptions } from './shared-turns.ts'

/**
 * Sessions that other processes have too, through the journal of their store.
 *
 * The store gives a journal once it is open.
 */
export class SessionSharing {
  readonly #options: SharingOptions
  readonly #known: KnownSessions

  constructor(options: SharingOptions) {
    this.#options = options
    this.#known = new KnownSessions(options.calmTurns)
  }

  /** The turns of one request of a tenant. */
  begin(tenant: string): SharedTurns {
    return new SharedTurns(tenant, this.#options, this.#known)
  }

  /** Compacts for all processes. @throws AppError if it is unknown whether that happened */
  async compact(tenant: string, session: string): Promise<number | null> {
    const { store } = this.#options
    this.#known.forget(sessionName(tenant, session))
    const named = { tenant, session, ttlMs: this.#options.ttlMs(tenant) }
    const { partition } = valueOr((await store.journal?.compact(named)) ?? NO_JOURNAL)
    return partition
  }

  /** Tells of changes that are no result's. @throws AppError as `compact` */
  async change(tenant: string, session: string, changes: readonly Change[]): Promise<void> {
    const { store, now } = this.#options
    this.#known.forget(sessionName(tenant, session))
    const written = writeChanges({ sequence: 0, timeMs: now(), changes }, [])
    const ttlMs = this.#options.ttlMs(tenant)
    const change = { tenant, session, ...written, ttlMs }
    valueOr((await store.journal?.append(change)) ?? NO_JOURNAL)
  }
}
