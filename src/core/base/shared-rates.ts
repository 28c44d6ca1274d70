/** The rates of keys, for all processes that share a store. */
export interface SharedLeases {
  /** Reports tokens that were used and gets others. `null` if the store cannot be asked. */
  lease(asked: LeaseRequest): Promise<Lease | null>
  /** Processes that share the rates, as far as this one knows; at least 1. */
  readonly replicas: number
}

/** The same for rates and for places. */
export interface SharedRates extends SharedLeases {
  /**
   * Takes places for requests at the same time, in place of those that this process had. They end
   * by themselves after `HELD_MS`.
   * @returns how many it has now, or `null` if the store cannot be asked
   */
  hold(asked: HoldRequest): Promise<number | null>
}

export interface LeaseRequest {
  readonly tenant: string
  readonly keyId: string
  readonly perSecond: number
  readonly burst: number
  /** Tokens that are wanted at most. */
  readonly wanted: number
  /** Tokens that were used without a lease since the last report. */
  readonly taken: number
}

export interface HoldRequest {
  readonly tenant: string
  readonly keyId: string
  /** Places that all processes have together. */
  readonly most: number
  /** Places that this process wants to have. */
  readonly wanted: number
}

/** Places of one key in this process. */
export interface SharedPlaces {
  /** How many requests may be under way in this process, now that so many are. */
  most(running: number): number
  /** Notes that so many are under way now. */
  note(running: number): void
}

/** How long places are held that are not asked for again, in milliseconds. */
export const HELD_MS = 10_000

export interface Lease {
  readonly granted: number
  /** When it is worth to ask again, in milliseconds. */
  readonly waitMs: number
}
