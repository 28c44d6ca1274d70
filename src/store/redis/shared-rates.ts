import {
  HELD_MS,
  type HoldRequest,
  type Lease,
  type LeaseRequest,
  type SharedRates,
} from '../../core/base/shared-rates.ts'
import type { Result } from '../store.ts'
import { LAYOUT, shortName } from './layout.ts'
import type { Library } from './library.ts'
import type { RedisServer } from './server.ts'

/** A process: its library, and the latest version of values that it reads. */
export interface SharingProcess {
  readonly library: string
  readonly layout: number
}

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
    const { library } = options
    this.#options = options
    this.#process = `${crypto.randomUUID()} ${library.name} ${LAYOUT}`
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
  }: LeaseRequest): Promise<Lease | null> {
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

  async hold({ tenant, keyId, most, wanted }: HoldRequest): Promise<number | null> {
    const { server, rootOf, time } = this.#options
    const called = await server.call('hold_places', rootOf(tenant), [
      time(),
      shortName(keyId),
      this.#process,
      `${most}`,
      `${wanted}`,
      `${HELD_MS}`,
    ])
    return called.ok && Number.isSafeInteger(called.reply) ? (called.reply as number) : null
  }

  /** The other processes that share the store now. */
  async others(): Promise<Result<{ readonly processes: readonly SharingProcess[] }>> {
    const { server, prefix, time } = this.#options
    const args = [time(), this.#process, `${GONE_MS}`]
    const called = await server.call('note_process', `${prefix}:processes`, args)
    if (!called.ok) return called
    const members = (called.reply as unknown[]).map(String)
    const processes = members.flatMap(member => {
      const [, library = '', layout = ''] = member.split(' ')
      return member === this.#process ? [] : [{ library, layout: Number(layout) }]
    })
    return { ok: true, processes }
  }

  /** Says that this process is gone, unless the server is away. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    const { server, prefix } = this.#options
    const key = `${prefix}:processes`
    if (server.isAvailable) await server.command(key, ['ZREM', key, this.#process])
  }

  async #note(): Promise<void> {
    if (!this.#options.server.isAvailable) return
    const noted = await this.others()
    if (noted.ok) this.#replicas = 1 + noted.processes.length
  }
}
