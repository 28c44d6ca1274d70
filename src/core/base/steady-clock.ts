/**
 * A wall clock that runs ahead by more than this, beyond what passed by the stopwatch, has jumped.
 */
const JUMP_MS = 60_000
/** A jump ahead that does not come back within this time is taken for the time of day. */
const HOLD_MS = 10 * 60_000

export interface SteadyClockOptions {
  /** The wall clock, in milliseconds since 1970. */
  readonly wall: () => number
  /** Never jumps, in milliseconds. */
  readonly stopwatch: () => number
  /** Called once for each jump ahead. */
  readonly onJump?: (aheadMs: number) => void
}

/**
 * The time by which bodies, sessions and files end. A wall clock that jumps ahead would end them
 * all at once, and nothing brings them back when the jump is taken back. So after a jump time goes
 * on by the stopwatch for `HOLD_MS`. A clock that goes back is followed at once: that only lets
 * bodies live longer.
 */
export function createSteadyClock({ wall, stopwatch, onJump }: SteadyClockOptions): () => number {
  let time = wall()
  let measuredAt = stopwatch()
  /** When the jump that is held back began, by the stopwatch. */
  let heldSince: number | null = null

  return () => {
    const now = wall()
    const measured = stopwatch()
    const expected = time + measured - measuredAt
    const isAhead = now - expected > JUMP_MS
    if (isAhead && heldSince === null) {
      heldSince = measured
      onJump?.(Math.round(now - expected))
    }
    const isHeld = isAhead && heldSince !== null && measured - heldSince < HOLD_MS
    if (!isHeld) heldSince = null
    time = isHeld ? expected : now
    measuredAt = measured
    return time
  }
}
