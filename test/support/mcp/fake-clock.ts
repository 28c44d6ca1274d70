import type { Clock } from '../../../src/mcp/upstream/clock.ts'

export interface FakeClock extends Clock {
  /** Lets time pass, and calls what is due, in order. */
  advance(ms: number): void
  /** Timers that wait. */
  waiting(): number
}

export function createFakeClock(): FakeClock {
  let now = 0
  let timers: { readonly at: number; readonly handler: () => void }[] = []
  return {
    now: () => now,
    after(ms, handler) {
      const timer = { at: now + ms, handler }
      timers.push(timer)
      return () => {
        timers = timers.filter(each => each !== timer)
      }
    },
    random: () => 0.5,
    waiting: () => timers.length,
    advance(ms) {
      const until = now + ms
      for (;;) {
        const [next] = timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)
        if (next === undefined) break
        timers = timers.filter(each => each !== next)
        now = next.at
        next.handler()
      }
      now = until
    },
  }
}
