import { addFields } from '../../core/base/add-fields.ts'
import type { Failure, Removed, Result } from '../store.ts'
import { STRANGE } from './failures.ts'
import { isOwnLibrary, type Library } from './library.ts'
import type { RedisServer } from './server.ts'

export interface UpkeepOptions {
  readonly server: RedisServer
  readonly library: Library
  readonly prefix: string
  readonly time: () => string
  readonly tombstoneMs: number
  /** How often this process tries to be the one that sweeps. */
  readonly sweepMs: number
  readonly onSwept: (removed: Removed) => void
}

/** Tenants that one sweep looks at. */
const TENANTS_A_SWEEP = 200
/** Steps for one tenant in one sweep. */
const STEPS_A_SWEEP = 8
/** How often the libraries of earlier versions are looked at. */
const LIBRARIES_MS = 600_000
/** A library that no process has used for so long is removed. */
const UNUSED_MS = 86_400_000

/** Removes what has ended. One process of all does it at a time. */
export class RedisUpkeep {
  readonly #options: UpkeepOptions
  readonly #id = crypto.randomUUID()
  #timer: NodeJS.Timeout | undefined
  #offset = 0
  #librariesAt = 0
  #isClosed = false

  constructor(options: UpkeepOptions) {
    this.#options = options
    this.#schedule()
  }

  /** Everything that is due, of all tenants. */
  async prune(): Promise<Result<Removed>> {
    let removed: Removed = { bodies: 0, records: 0 }
    for (let from = 0; ; from += TENANTS_A_SWEEP) {
      const roots = await this.roots(from)
      if (!roots.ok) return roots
      for (const root of roots.roots) {
        const swept = await this.#sweep(root, Number.POSITIVE_INFINITY)
        if (!swept.ok) return swept
        removed = addFields(removed, swept)
      }
      if (roots.roots.length < TENANTS_A_SWEEP) return { ok: true, ...removed }
    }
  }

  /** A page of all tenants, in a stable order. */
  async roots(from: number): Promise<Result<{ readonly roots: readonly string[] }>> {
    const key = `${this.#options.prefix}:tenants`
    const last = from + TENANTS_A_SWEEP - 1
    const called = await this.#options.server.command(key, ['ZRANGE', key, `${from}`, `${last}`])
    if (!called.ok) return called
    return Array.isArray(called.reply) ? { ok: true, roots: called.reply.map(String) } : STRANGE
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #schedule(): void {
    if (this.#isClosed) return
    this.#timer = setTimeout(() => {
      void this.#turn().then(() => this.#schedule())
    }, this.#options.sweepMs).unref()
  }

  async #turn(): Promise<void> {
    const { server, prefix, sweepMs, onSwept } = this.#options
    if (!server.isAvailable) return
    const key = `${prefix}:sweep`
    const lease = ['SET', key, this.#id, 'NX', 'PX', `${Math.max(1, sweepMs - 1)}`]
    const mine = await server.command(key, lease)
    if (!mine.ok || mine.reply === null) return
    const roots = await this.roots(this.#offset)
    if (!roots.ok) return
    this.#offset = roots.roots.length < TENANTS_A_SWEEP ? 0 : this.#offset + TENANTS_A_SWEEP
    for (const root of roots.roots) {
      const swept = await this.#sweep(root, STEPS_A_SWEEP)
      if (!swept.ok) return
      if (swept.bodies > 0) onSwept(swept)
    }
    await this.#libraries()
  }

  async #sweep(root: string, steps: number): Promise<Result<Removed>> {
    const { server, time, tombstoneMs } = this.#options
    let removed: Removed = { bodies: 0, records: 0 }
    for (let step = 0; step < steps; step++) {
      const called = await server.call('sweep', root, [time(), `${tombstoneMs}`])
      if (!called.ok) return called
      const [bodies, records, more] = called.reply as [number, number, number]
      removed = addFields(removed, { bodies, records })
      if (more === 0) break
    }
    return { ok: true, ...removed }
  }

  /** Notes that this process uses its library, and removes those that none uses any more. */
  async #libraries(): Promise<Failure | undefined> {
    const { server, library, prefix } = this.#options
    const now = Date.now()
    if (now - this.#librariesAt < LIBRARIES_MS) return undefined
    this.#librariesAt = now
    const key = `${prefix}:live`
    const noted = await server.command(key, ['ZADD', key, `${now}`, library.name])
    if (!noted.ok) return noted
    const listed = await server.command(key, ['FUNCTION', 'LIST', 'LIBRARYNAME', 'haversack_*'])
    if (!listed.ok) return listed
    if (!Array.isArray(listed.reply)) return STRANGE
    for (const entry of listed.reply.filter(Array.isArray)) {
      const name = String(entry[entry.findIndex(each => String(each) === 'library_name') + 1])
      if (!isOwnLibrary(name) || name === library.name) continue
      const seen = await server.command(key, ['ZSCORE', key, name])
      if (!seen.ok) return seen
      if (seen.reply !== null && now - Number(seen.reply) < UNUSED_MS) continue
      await server.command(key, ['FUNCTION', 'DELETE', name])
    }
    return undefined
  }
}
