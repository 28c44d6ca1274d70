import type { Result, SessionOwners } from '../store.ts'
import { shortName } from './layout.ts'
import type { RedisServer } from './server.ts'

export interface OwnersOptions {
  readonly server: Pick<RedisServer, 'command' | 'confirm' | 'connection' | 'outages'>
  readonly rootOf: (tenant: string) => string
  /** How often a missed turn is tried to be told, in milliseconds. */
  readonly retryMs?: number
}

/** Sessions of which this process remembers that it serves them, or that it missed a turn. */
const MAX_SESSIONS = 100_000
const RETRY_MS = 500

/**
 * Which process serves a session, as a key of its own that the process writes with every turn. What
 * a process remembers of a session is true only if it has seen all of its turns. So the session
 * begins again if another process was named, and if Redis was away: then others may have answered
 * turns without being able to say so.
 */
export class RedisOwners implements SessionOwners {
  readonly #options: OwnersOptions
  /** Differs for every start of a process, which forgets its sessions. */
  readonly #id = crypto.randomUUID()
  /** The outages that this process had seen when it took a session. */
  readonly #taken = new Map<string, number>()
  readonly #doubted = new Set<string>()
  /** Sessions that this process answered for without Redis knowing, and how long they live. */
  readonly #missed = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined

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
    const weak = called.ok ? await server.confirm(root, connection) : called
    if (!called.ok || weak !== undefined) {
      this.#miss(key, ttlMs)
      return called.ok ? weak! : called
    }
    const before = called.reply === null ? null : String(called.reply)
    const outages = this.#taken.get(key)
    // A key that is gone says nothing of the process that served the session meanwhile.
    const isNew = before === null && outages === undefined
    const isKnown = before === this.#id && outages === server.outages
    const isDoubted = this.#doubted.delete(key)
    this.#taken.delete(key)
    note(this.#taken, key, server.outages)
    return { ok: true, isOurs: (isNew || isKnown) && !isDoubted }
  }

  doubt(tenant: string, session: string): void {
    this.#doubted.add(this.#keyOf(this.#options.rootOf(tenant), session))
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  #keyOf(root: string, session: string): string {
    return `${root}o:${shortName(session)}`
  }

  /** From now on no process is named, as soon as Redis can be told. */
  #miss(key: string, ttlMs: number): void {
    note(this.#missed, key, ttlMs)
    this.#timer ??= setTimeout(() => void this.#tell(), this.#options.retryMs ?? RETRY_MS).unref()
  }

  async #tell(): Promise<void> {
    for (const [key, ttlMs] of this.#missed) {
      const none = crypto.randomUUID()
      const told = await this.#options.server.command(key, ['SET', key, none, 'PX', `${ttlMs}`])
      if (!told.ok) break
      this.#missed.delete(key)
    }
    this.#timer = undefined
    const [next] = this.#missed
    if (next !== undefined) this.#miss(...next)
  }
}

/** Sets an entry, and forgets the oldest beyond `MAX_SESSIONS`. */
function note(entries: Map<string, number>, key: string, value: number): void {
  entries.set(key, value)
  if (entries.size > MAX_SESSIONS) entries.delete(entries.keys().next().value as string)
}
