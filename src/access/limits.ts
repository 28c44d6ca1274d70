import {
  HELD_MS,
  type HoldRequest,
  type LeaseRequest,
  type SharedLeases,
  type SharedPlaces,
  type SharedRates,
} from '../core/base/shared-rates.ts'

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

/** Places are asked for again so often while requests are under way. */
const RENEW_MS = HELD_MS / 3
/** What was heard holds for so long: a little less than at the store. */
const KNOWN_MS = HELD_MS * 0.8
/** A process that was given fewer places than it wants asks again after this. */
const AGAIN_MS = 200

/**
 * Places for requests of a key at the same time, which several processes share. Each holds its
 * equal share while it has requests, and borrows what others leave. It asks in the background, so
 * no request waits for the store: one that comes before the answer finds the places of before. If
 * the store cannot be asked, or has not been, a process has its share, at least one place.
 */
export function createSharedPlaces(
  key: Omit<HoldRequest, 'wanted'>,
  rates: () => SharedRates | undefined,
): SharedPlaces {
  let held = 0
  let running = 0
  let knownUntil = Number.NEGATIVE_INFINITY
  let askAt = Number.NEGATIVE_INFINITY
  let isAsking = false
  let timer: NodeJS.Timeout | undefined

  const share = () => Math.floor(key.most / (rates()?.replicas ?? 1))

  /** Its share; above that, twice as many as there are requests. */
  function wantedFor(count: number): number {
    if (count === 0) return 0
    return Math.min(key.most, count <= share() ? share() : 2 * count)
  }

  async function ask(count: number): Promise<void> {
    const source = rates()
    if (isAsking || source === undefined) return
    clearTimeout(timer)
    isAsking = true
    const wanted = wantedFor(count)
    const granted = await source.hold({ ...key, wanted })
    isAsking = false
    askAt = performance.now() + AGAIN_MS
    held = granted ?? 0
    knownUntil =
      granted === null || wanted === 0 ? Number.NEGATIVE_INFINITY : performance.now() + KNOWN_MS
    if (running > 0) askIn(held < wantedFor(running) ? AGAIN_MS : RENEW_MS)
    else if (held > 0) askIn(AGAIN_MS)
  }

  function askIn(ms: number): void {
    timer = setTimeout(() => void ask(running), ms).unref()
  }

  return {
    most(count) {
      const isKnown = performance.now() < knownUntil
      if ((!isKnown || count >= held) && performance.now() >= askAt) void ask(count + 1)
      return isKnown ? held : Math.max(1, share())
    },
    note(count) {
      running = count
      const isTooMuch = held > Math.max(share(), 4 * running)
      if (held > 0 && (running === 0 || isTooMuch)) void ask(running)
    },
  }
}

/** A token bucket: `perSecond` in the long run, up to `burst` at once after a pause. */
export interface RateLimit {
  /** Takes a token and returns 0, or returns the milliseconds until there is one. */
  take(now: number): number
}

export function createRateLimit(perSecond: number, burst: number, now: number): RateLimit {
  const perMs = perSecond / 1000
  let tokens = burst
  let filledAt = now

  return {
    take(at) {
      // A clock that went backwards adds nothing.
      tokens = Math.min(burst, tokens + Math.max(0, at - filledAt) * perMs)
      filledAt = at
      if (tokens < 1) return (1 - tokens) / perMs
      tokens -= 1
      return 0
    },
  }
}
