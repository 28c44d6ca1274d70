import { Counter, Gauge, type Registry } from 'prom-client'
import {
  COUNTERS,
  type SharedLoad,
  type StoreState,
  type StoreStats,
} from '../store/values/store-figures.ts'
import { type Register, SECONDS } from './register.ts'

/** Calls of the store. */
export interface StoreMetrics {
  /** One call of the store. */
  store(op: string, ms: number, failure: string | null): void
  /** One call of the server of a shared store: a function or a command. */
  storeCall(call: string, ms: number, failure: string | null): void
  /** Something that an operator should know of the store. */
  storeProblem(kind: string): void
}

export interface StoreGauges {
  /** `null` if it does not answer. */
  store(): Promise<StoreStats | null>
  /** Calls that wait for the store. */
  storePending(): number
  storeState(): StoreState
  /** `null` if the store is not shared. */
  storeShared(): SharedLoad | null
}

/** Registers gauges and counters whose values the store has. It is asked once for each scrape. */
export function registerStoreGauges(registry: Registry, gauges: StoreGauges): void {
  let asking: Promise<StoreStats | null> | null = null

  function stats(): Promise<StoreStats | null> {
    asking ??= gauges.store().finally(() => {
      asking = null
    })
    return asking
  }

  registerSizes(registry, stats)
  registerEvents(registry, stats)
  registerState(registry, gauges)
  registerShared(registry, gauges)
}

type Stats = () => Promise<StoreStats | null>

function registerSizes(registry: Registry, stats: Stats): void {
  const gauge = (name: string, help: string, read: (stats: StoreStats) => number | undefined) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const known = await stats()
        if (known !== null) this.set(read(known) ?? 0)
      },
    })
  gauge('haversack_store_bodies', 'Kept originals', ({ bodies }) => bodies)
  gauge('haversack_store_records', 'Kept records', ({ records }) => records)
  gauge('haversack_store_bytes', "Size of the store's files", ({ file }) =>
    file === undefined ? 0 : file.file_bytes + file.wal_bytes,
  )
  gauge('haversack_store_free_bytes', 'Of them free for reuse', ({ file }) => file?.free_bytes)
  gauge('haversack_store_bytes_limit', 'Most that they may have', ({ file }) => file?.max_bytes)
}

function registerEvents(registry: Registry, stats: Stats): void {
  const seen = new Map<string, number>()
  new Counter({
    name: 'haversack_store_events_total',
    help: 'What happened to bodies and records',
    labelNames: ['event'],
    registers: [registry],
    async collect() {
      const counters = (await stats())?.counters
      if (counters === undefined) return
      for (const event of COUNTERS) {
        const value = counters[event]
        const before = seen.get(event) ?? 0
        // The store counts from 0 again once its thread was replaced.
        this.inc({ event }, value >= before ? value - before : value)
        seen.set(event, value)
      }
    },
  })
}

function registerState(registry: Registry, { storePending, storeState }: StoreGauges): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  gauge('haversack_store_pending', 'Calls that wait for the store', storePending)
  gauge(
    'haversack_store_available',
    '1 while the store has its file open, 0 while it cannot be opened',
    () => (storeState() === 'unavailable' ? 0 : 1),
  )
  gauge('haversack_store_salvaging', '1 while what a damaged file had is being carried over', () =>
    storeState() === 'salvaging' ? 1 : 0,
  )
}

function registerShared(registry: Registry, { storeShared }: StoreGauges): void {
  const registers = [registry]
  new Gauge({
    name: 'haversack_store_replicas',
    help: 'Processes that share the store; 1 if it is not shared',
    registers,
    collect() {
      this.set(storeShared()?.replicas ?? 1)
    },
  })
  new Gauge({
    name: 'haversack_store_repair_bytes',
    help: 'Bytes of the last writes, which are made again if the server turns out to lack them',
    registers,
    collect() {
      this.set(storeShared()?.repair_bytes ?? 0)
    },
  })
  new Gauge({
    name: 'haversack_store_repaired',
    help: 'Writes that were made again, could not be made again, or found no room, since the start',
    labelNames: ['outcome'],
    registers,
    collect() {
      const shared = storeShared()
      for (const outcome of ['written', 'lost', 'dropped'] as const)
        this.set({ outcome }, shared?.[outcome] ?? 0)
    },
  })
}

/** Metrics of the store's calls: their time and their failures. */
export function createStoreMetrics({ histogram, counter }: Register): StoreMetrics {
  const time = histogram('haversack_store_seconds', 'Time of a call of the store', SECONDS, 'op')
  const failures = counter('haversack_store_failures_total', 'Calls of the store that failed', [
    'op',
    'reason',
  ])
  const callTime = histogram(
    'haversack_store_server_seconds',
    'Time of a call of the server of a shared store',
    SECONDS,
    'call',
  )
  const callFailures = counter(
    'haversack_store_server_failures_total',
    'Calls of the server of a shared store that failed',
    ['call', 'reason'],
  )
  const problems = counter(
    'haversack_store_problems_total',
    'Damage, failed writes, lost threads of the store',
    ['kind'],
  )
  return {
    store(op, ms, failure) {
      time(ms / 1000, op)
      if (failure !== null) failures.inc({ op, reason: failure })
    },
    storeCall(call, ms, failure) {
      callTime(ms / 1000, call)
      if (failure !== null) callFailures.inc({ call, reason: failure })
    },
    storeProblem: kind => problems.inc({ kind }),
  }
}
