import { randomBytes } from 'node:crypto'
import type { Clock } from '../../upstream/clock.ts'
import type { McpCaller } from '../http-exchange.ts'
import type { LogRoom } from './event-log.ts'
import type { HttpSession } from './http-session.ts'

/** Sessions of all tenants, and of one. */
const MAX_SESSIONS = 4_096
const MAX_OF_TENANT = 1_024
/** Bytes that all sessions keep for clients that come back. */
const MAX_KEPT_BYTES = 256 * 1024 * 1024

const IDLE_MS = 600_000
/** A session that is idle for so long gives way to another one of its tenant. */
const YIELD_MS = 30_000
/** Shorter than the time after which proxies close silent connections. */
const MAINTAIN_MS = 15_000

/** The sessions of all endpoints, within common bounds. */
export class SessionTable {
  readonly room: LogRoom = { left: MAX_KEPT_BYTES }
  readonly #clock: Clock
  readonly #sessions = new Map<string, HttpSession>()
  readonly #byTenant = new Map<string, number>()
  /** Sessions that are ending. */
  readonly #closing = new Set<Promise<void>>()
  #cancelMaintenance = () => {}
  #isClosed = false

  constructor(clock: Clock) {
    this.#clock = clock
    this.#maintainLater()
  }

  get size(): number {
    return this.#sessions.size
  }

  now(): number {
    return this.#clock.now()
  }

  newId(): string {
    return randomBytes(24).toString('base64url')
  }

  /** Makes room for a session of the tenant; `false` if there is none. */
  makeRoom(tenant: string): boolean {
    if (this.#isClosed) return false
    const isFull = () =>
      this.#sessions.size >= MAX_SESSIONS || (this.#byTenant.get(tenant) ?? 0) >= MAX_OF_TENANT
    if (!isFull()) return true
    let idlest: HttpSession | undefined
    let idleMs = YIELD_MS
    for (const session of this.#sessions.values()) {
      if (session.caller.tenant !== tenant || session.idleMs() < idleMs) continue
      idlest = session
      idleMs = session.idleMs()
    }
    if (idlest !== undefined) void this.end(idlest)
    return !isFull()
  }

  add(session: HttpSession): void {
    const { tenant } = session.caller
    this.#sessions.set(session.id, session)
    this.#byTenant.set(tenant, (this.#byTenant.get(tenant) ?? 0) + 1)
  }

  /** @returns `undefined` also for the session of another caller */
  find(id: string, { tenant, credential }: McpCaller): HttpSession | undefined {
    const session = this.#sessions.get(id)
    const isOwn = session?.caller.tenant === tenant && session.caller.credential === credential
    return isOwn ? session : undefined
  }

  /** Resolves once nothing of the session is left. */
  async end(session: HttpSession): Promise<void> {
    if (this.#sessions.delete(session.id)) {
      const { tenant } = session.caller
      const left = (this.#byTenant.get(tenant) ?? 1) - 1
      if (left === 0) this.#byTenant.delete(tenant)
      else this.#byTenant.set(tenant, left)
    }
    const closing = session.close()
    this.#closing.add(closing)
    await closing.finally(() => this.#closing.delete(closing))
  }

  /** Ends streams without a request, and takes no more sessions. */
  drain(): void {
    this.#isClosed = true
    for (const session of this.#sessions.values()) session.stopListening()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelMaintenance()
    for (const session of [...this.#sessions.values()]) void this.end(session)
    await Promise.all(this.#closing)
  }

  #maintainLater(): void {
    this.#cancelMaintenance = this.#clock.after(MAINTAIN_MS, () => {
      for (const session of [...this.#sessions.values()]) {
        session.maintain()
        if (session.idleMs() >= IDLE_MS) void this.end(session)
      }
      if (!this.#isClosed) this.#maintainLater()
    })
  }
}
