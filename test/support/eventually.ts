import { setTimeout as sleep } from 'node:timers/promises'
import { vi } from 'vitest'

/** So long that only the limit of the test itself ends it. */
const LIMIT_MS = 3_600_000
/** Checks at the interval itself, and then at times it. */
const SHORT_CHECKS = 20
const LONGER = 8

/**
 * Resolves once `check` passes, however long that takes: the machine may be busy. An assertion that
 * fails takes some 0.7 ms, so a state that is long in coming is looked at less often.
 */
export function eventually<T>(check: () => T | Promise<T>, interval_ms = 5): Promise<T> {
  let looks = 0
  const checkLater = async () => {
    if (++looks > SHORT_CHECKS) await sleep(interval_ms * LONGER)
    return check()
  }
  return vi.waitFor(checkLater, { timeout: LIMIT_MS, interval: interval_ms })
}
