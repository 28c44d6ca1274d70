import { uniform } from './position.ts'
import type { Strategy } from './strategy.ts'

/** The value of a settled discussion compared with an open one (seed 003, "Thread-Level"). */
const RESOLVED = 0.3
/** A comment between the first and the last one of its thread. */
const MIDDLE = 0.5

/**
 * Discussions: the open ones before those that are settled, and of each its first and last comment
 * in any case.
 */
export const threadLevel: Strategy = {
  thread: { middle: MIDDLE },
  factor: uniform.factor,
  weigh: items =>
    items.map(
      ({ resolved }, index) =>
        (resolved === true ? RESOLVED : 1) * uniform.factor(index, items.length),
    ),
}
