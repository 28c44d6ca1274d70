import type { Clock } from '../../../src/mcp/upstream/clock.ts'

/** Time that runs that many times faster. */
export function fastClock(factor = 20): Clock {
  return {
    now: () => performance.now() * factor,
    after(ms, handler) {
      const timer = setTimeout(handler, ms / factor)
      return () => clearTimeout(timer)
    },
    random: () => 0.5,
  }
}
