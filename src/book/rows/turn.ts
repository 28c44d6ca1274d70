import type { Origin } from './day-sums.ts'

/** A request that a vendor answered, as the ledger's file has it. */
export interface Turn {
  readonly tenant: string
  /** Unix milliseconds. */
  readonly at: number
  readonly vendor: string
  /** Names the conversation by its opening, 16 hex digits; `null` if it is not known. */
  readonly conversation: string | null
  readonly model: string | null
  /** Whether the answer reported what it used; the counts below are 0 if it did not. */
  readonly known: boolean
  /** Tokens as the provider counted them; no token is in two of them. */
  readonly uncached: number
  readonly cache_read: number
  readonly cache_write: number
  readonly output: number
  /** Tokens that the request was spared. */
  readonly removed: number
  /** In uncached input tokens: as it was billed, and as it would have been without Haversack. */
  readonly billed: number
  readonly without: number
  /** Why the request was forwarded unchanged; `null` if it was read. */
  readonly untouched: string | null
  /** Whether an earlier turn was sent with another prefix. */
  readonly prefix_changed: boolean
  /** What each tool's results saved, in uncached input tokens; a part of `without`. */
  readonly tools: readonly (readonly [tool: string, saved: number])[]
  /** `null`: no price of the model is known. */
  readonly money: {
    readonly currency: string
    readonly billed: number
    readonly without: number
  } | null
  /** A round that the proxy asked for by itself: it has a bill, and is no request. */
  readonly isHidden: boolean
  /** Absent: nothing is known of it. */
  readonly origin?: Origin | undefined
}
