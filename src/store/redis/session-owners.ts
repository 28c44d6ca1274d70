import type { Result, SessionOwners } from '../store.ts'
import { shortName } from './layout.ts'
import type { RedisServer } from './server.ts'

export interface OwnersOptions {
  readonly server: RedisServer
  readonly rootOf: (tenant: string) => string
}

/** Sessions of which this process remembers that it serves them. */
const MAX_SESSIONS = 100_000

/** Which process serves a session, as a key of its own that the process writes with every turn. */
export class RedisOwners implements SessionOwners {
  readonly #options: OwnersOptions
  /** Differs for every start of a process, which forgets its sessions. */
  readonly #id = crypto.randomUUID()
  readonly #taken = new Set<string>()
  readonly #doubted = new Set<string>()

  constructor(options: OwnersOptions) {
    this.#options = options
  }

  async take(
    tenant: string,
    session: string,
    ttlMs: number,
  ): Promise<Result<{ readonly isOurs: boolean }>> {
    const { server, rootOf } = this.#options
    const root = rootOf(tenant)
    const key = this.#keyOf(root, session)
    const { connection } = server
    const called = await server.command(root, ['SET', key, this.#id, 'GET', 'PX', `${ttlMs}`])
    if (!called.ok) return called
    const weak = await server.confirm(root, connection)
    if (weak !== undefined) return weak
    const before = called.reply === null ? null : String(called.reply)
    // A key that is gone says nothing of who served the session meanwhile.
    const isKnown = before === this.#id || (before === null && !this.#taken.has(key))
    const isDoubted = this.#doubted.delete(key)
    this.#note(key)
    return { ok: true, isOurs: isKnown && !isDoubted }
  }

  doubt(tenant: string, session: string): void {
    this.#doubted.add(this.#keyOf(this.#options.rootOf(tenant), session))
  }

  #keyOf(root: string, session: string): string {
    return `${root}o:${shortName(session)}`
  }

  #note(key: string): void {
    this.#taken.delete(key)
    this.#taken.add(key)
    if (this.#taken.size <= MAX_SESSIONS) return
    for (const oldest of this.#taken) {
      this.#taken.delete(oldest)
      break
    }
  }
}
