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
