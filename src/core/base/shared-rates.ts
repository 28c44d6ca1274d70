/** The rates of keys, for all processes that share a store. */
export interface SharedRates {
  /** Reports tokens that were used and gets others. `null` if the store cannot be asked. */
  lease(asked: LeaseRequest): Promise<Lease | null>
  /** Processes that share the rates, as far as this one knows; at least 1. */
  readonly replicas: number
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

export interface Lease {
  readonly granted: number
  /** When it is worth to ask again, in milliseconds. */
  readonly waitMs: number
}
