import type { LeaseRequest, SharedLeases } from '../core/base/shared-rates.ts'
import type { RateLimit } from './rate-limit.ts'

/** A lease lasts about so long at the full rate. */
const LEASE_MS = 50
/** How long nothing is asked after the store could not be. */
const AWAY_MS = 500

/**
 * A token bucket that several processes share. Each leases tokens ahead, so that no request waits
 * for the store. Without a lease a process has its share: what the bucket gains since it last heard
 * of it, divided by the number of processes. It reports that with its next lease.
 */
export function createSharedRate(
  { tenant, keyId, perSecond, burst }: Omit<LeaseRequest, 'wanted' | 'taken'>,
  rates: () => SharedLeases | undefined,
): RateLimit {
  const perMs = perSecond / 1000
  const lease = Math.max(1, Math.ceil(perMs * LEASE_MS))
  let tokens = 0
  let taken = 0
  let heardMs = Number.NEGATIVE_INFINITY
  let askMs = Number.NEGATIVE_INFINITY
  let isAsking = false

  /** Adds this process's share of what came since it last heard of the bucket. */
  function addShare(at: number, replicas: number): void {
    const most = Math.max(1, burst / replicas)
    const share = Math.floor(Math.min(most, ((at - heardMs) * perMs) / replicas))
    if (share < 1) return
    tokens += share
    taken += share
    // What is left of a token stays, unless the bucket was full.
    heardMs = share >= Math.floor(most) ? at : heardMs + (share * replicas) / perMs
  }

  async function ask(at: number, source: SharedLeases): Promise<void> {
    isAsking = true
    const reported = taken
    // While the store was away for long, its bucket was full and gained nothing.
    const owed = Math.min(reported, Math.ceil(burst / source.replicas))
    const wanted = Math.max(lease, Math.floor(burst / source.replicas)) - tokens
    const asked = { tenant, keyId, perSecond, burst, wanted, taken: owed }
    const answer = await source.lease(asked)
    isAsking = false
    if (answer === null) {
      askMs = at + AWAY_MS
      return
    }
    taken -= reported
    tokens += answer.granted
    heardMs = Math.max(heardMs, at)
    askMs = at + answer.waitMs
  }

  return {
    take(at) {
      const source = rates()
      const replicas = source?.replicas ?? 1
      if (tokens < 1) addShare(at, replicas)
      if (tokens <= lease / 2 && !isAsking && at >= askMs && source !== undefined)
        void ask(at, source)
      if (tokens < 1) return Math.max(1, replicas / perMs - (at - heardMs))
      tokens -= 1
      return 0
    },
  }
}
