import { BoundedMap } from '../core/base/bounded-map.ts'

/** Limits on fetches at once: of a context, to a host, in all. */
export interface SlotLimits {
  readonly now: () => number
  readonly maxParallel?: number
  readonly maxPerHost?: number
  readonly maxTotal?: number
  readonly respectRateLimits?: boolean
}

export interface Slots {
  /** Why nothing may be started there now; `null` if it may. */
  declineReason(context: string, host: string | null): 'host_saturated' | 'parallel_limit' | null
  claim(context: string, host: string | null): void
  /** @param retryAfterMs how long the host wants no more calls */
  release(context: string, host: string | null, retryAfterMs?: number): void
}

/** Hosts may ask for any time; no longer than this is believed. */
const LONGEST_PAUSE_MS = 600_000
/** Pauses that are remembered. */
const MAX_PAUSES = 1_000

export function createSlots({
  now,
  maxParallel = 3,
  maxPerHost = 4,
  maxTotal = 64,
  respectRateLimits = true,
}: SlotLimits): Slots {
  const byContext = new Map<string, number>()
  const byHost = new Map<string, number>()
  const pausedUntil = new BoundedMap<string, number>(MAX_PAUSES)
  let total = 0

  function isSaturated(host: string): boolean {
    if (!respectRateLimits) return false
    return (byHost.get(host) ?? 0) >= maxPerHost || (pausedUntil.get(host) ?? 0) > now()
  }

  function pause(host: string, ms: number): void {
    pausedUntil.set(host, now() + Math.min(ms, LONGEST_PAUSE_MS))
  }

  return {
    declineReason(context, host) {
      if (total >= maxTotal || (byContext.get(context) ?? 0) >= maxParallel) return 'parallel_limit'
      return host !== null && isSaturated(host) ? 'host_saturated' : null
    },
    claim(context, host) {
      total++
      add(byContext, context, 1)
      if (host !== null) add(byHost, host, 1)
    },
    release(context, host, retryAfterMs) {
      total--
      add(byContext, context, -1)
      if (host === null) return
      add(byHost, host, -1)
      if (retryAfterMs !== undefined && retryAfterMs > 0) pause(host, retryAfterMs)
    },
  }
}

/** Counts up or down. A count of 0 is not kept. */
function add(counts: Map<string, number>, key: string, more: number): void {
  const count = (counts.get(key) ?? 0) + more
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
