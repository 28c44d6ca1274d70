export interface StoreStats {
  readonly bodies: number
  readonly records: number
  /** What bodies and records take on disk, compressed and with their overhead. */
  readonly stored_bytes: number
  /** The rest is about the whole store, and left out if a tenant is asked for. */
  readonly file?: FileStats
  /** Since the thread started. */
  readonly counters?: Readonly<Record<CounterName, number>>
}

export interface FileStats {
  readonly max_bytes: number
  readonly file_bytes: number
  readonly wal_bytes: number
  readonly free_bytes: number
  readonly tombstones: number
  readonly tenants: number
}

export const COUNTERS = [
  'created',
  'refreshed',
  'hits',
  'misses',
  'expired',
  'evicted',
  'damaged',
  'refused',
  'commits',
] as const
export type CounterName = (typeof COUNTERS)[number]

/** `salvaging`: what a damaged file had is being carried over; `unavailable`: no file is open. */
export type StoreState = 'open' | 'salvaging' | 'unavailable'

/** The queue in front of the store. */
export interface StoreLoad {
  readonly state: StoreState
  readonly pending: number
  readonly pending_bytes: number
  readonly refused: number
  readonly threads_lost: number
  /** Only of a store that processes share. */
  readonly shared?: SharedLoad
}

/** What a shared store says to a version that may join. */
export interface StoreCheck {
  /** Other processes that use it now, and how many versions of the library they have. */
  readonly processes: number
  readonly libraries: number
  /** The version of values that this process writes. */
  readonly layout: number
  /** Why it must not join, one sentence each. */
  readonly problems: readonly string[]
}

/** What a process knows of a store that it shares. */
export interface SharedLoad {
  /** Processes that share it now. */
  readonly replicas: number
  /** Bytes of the last writes, which could be made again now. */
  readonly repair_bytes: number
  /** Writes made again on another server; those that could not be; those that found no room. */
  readonly written: number
  readonly lost: number
  readonly dropped: number
}
