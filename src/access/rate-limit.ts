/** A token bucket: `perSecond` in the long run, up to `burst` at once after a pause. */
export interface RateLimit {
  /** Takes one; gives 0, or the milliseconds until there will be one. `now` in milliseconds. */
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
