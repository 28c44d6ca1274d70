import { BoundedMap } from '../core/base/bounded-map.ts'

/** Limits on fetches at once: of a context, to a host, in all. */
export interface SlotLimits {
  readonly now: () => number
  readonly maxParallel?: number
  readonly maxPerHost?: number
  readonly maxTotal?: number
  readonly respectRateLimits?: boolean
}

/** Hosts may ask for any time; no longer than this is believed. */
const LONGEST_PAUSE_MS = 600_000
/** Pauses that are remembered. */
const MAX_PAUSES = 1_000

/** Fetches that are on their way. */
export class Slots {
  readonly #limits: SlotLimits
  readonly #byContext = new Map<string, number>()
  readonly #byHost = new Map<string, number>()
  readonly #pausedUntil = new BoundedMap<string, number>(MAX_PAUSES)
  #total = 0

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  /** Why nothing may be started there now; `null` if it may. */
  declineReason(context: string, host: string | null): 'host_saturated' | 'parallel_limit' | null {
    const { maxParallel = 3, maxTotal = 64 } = this.#limits
    const ofContext = this.#byContext.get(context) ?? 0
    if (this.#total >= maxTotal || ofContext >= maxParallel) return 'parallel_limit'
    return host !== null && this.#isSaturated(host) ? 'host_saturated' : null
  }

  claim(context: string, host: string | null): void {
    this.#count(context, host, 1)
  }

  /** @param retryAfterMs how long the host wants no more calls */
  release(context: string, host: string | null, retryAfterMs = 0): void {
    this.#count(context, host, -1)
    if (host === null || retryAfterMs <= 0) return
    const pauseMs = Math.min(retryAfterMs, LONGEST_PAUSE_MS)
    this.#pausedUntil.set(host, this.#limits.now() + pauseMs)
  }

  #count(context: string, host: string | null, more: number): void {
    this.#total += more
    add(this.#byContext, context, more)
    if (host !== null) add(this.#byHost, host, more)
  }

  #isSaturated(host: string): boolean {
    const { now, maxPerHost = 4, respectRateLimits = true } = this.#limits
    if (!respectRateLimits) return false
    return (this.#byHost.get(host) ?? 0) >= maxPerHost || (this.#pausedUntil.get(host) ?? 0) > now()
  }
}

/** Counts up or down. A count of 0 is not kept. */
function add(counts: Map<string, number>, key: string, more: number): void {
  const count = (counts.get(key) ?? 0) + more
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
