import type { LeaseOfRate, RateLease, Result, SharedRates } from '../store.ts'
import { shortName } from './layout.ts'
import type { Library } from './library.ts'
import type { RedisServer } from './server.ts'

export interface SharedRatesOptions {
  readonly server: RedisServer
  readonly library: Pick<Library, 'name'>
  readonly prefix: string
  readonly time: () => string
  readonly rootOf: (tenant: string) => string
}

/** How often a process says that it is there. */
const NOTE_MS = 2_000
/** After so long without a word it counts as gone. */
const GONE_MS = 7_000

/** Rates of keys in Redis, and the processes that share them. */
export class RedisRates implements SharedRates {
  readonly #options: SharedRatesOptions
  readonly #process: string
  readonly #timer: NodeJS.Timeout
  #replicas = 1

  constructor(options: SharedRatesOptions) {
    this.#options = options
    this.#process = `${crypto.randomUUID()} ${options.library.name}`
    this.#timer = setInterval(() => void this.#note(), NOTE_MS).unref()
    void this.#note()
  }

  get replicas(): number {
    return this.#replicas
  }

  async lease({
    tenant,
    keyId,
    perSecond,
    burst,
    wanted,
    taken,
  }: LeaseOfRate): Promise<RateLease | null> {
    const { server, rootOf, time } = this.#options
    const called = await server.call('lease_rate', rootOf(tenant), [
      time(),
      shortName(keyId),
      `${perSecond}`,
      `${burst}`,
      `${wanted}`,
      `${taken}`,
    ])
    if (!called.ok) return null
    const [granted, waitMs] = called.reply as [number, number]
    return Number.isSafeInteger(granted) && Number.isSafeInteger(waitMs)
      ? { granted, waitMs }
      : null
  }

  /** The names of the libraries that processes use now, one for each process. */
  async libraries(): Promise<Result<{ readonly names: readonly string[] }>> {
    const { server, prefix, time } = this.#options
    const args = [time(), this.#process, `${GONE_MS}`]
    const called = await server.call('note_process', `${prefix}:processes`, args)
    if (!called.ok) return called
    const names = (called.reply as Buffer[]).map(each => String(each).split(' ')[1] ?? '')
    return { ok: true, names }
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #note(): Promise<void> {
    if (!this.#options.server.isAvailable) return
    const noted = await this.libraries()
    if (noted.ok) this.#replicas = Math.max(1, noted.names.length)
  }
}
