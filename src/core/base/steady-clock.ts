/**
 * A wall clock that runs ahead by more than this, beyond what passed by the stopwatch, has jumped.
 */
const JUMP_MS = 60_000
/** If a jump ahead is not taken back within this time, it counts as the right time. */
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
 * The clock by which bodies, sessions and files end. If the wall clock jumped ahead, all of them
 * would end at once, and nothing would bring them back when the jump is taken back. So after a jump
 * the time follows the stopwatch for `HOLD_MS`. If the wall clock goes back, it is followed at
 * once, because that only lets bodies live longer.
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
