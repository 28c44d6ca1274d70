import { vi } from 'vitest'

/** So long that only the limit of the test itself ends it. */
const LIMIT_MS = 3_600_000

/** Resolves once `check` passes, however long that takes: the machine may be busy. */
export function eventually<T>(check: () => T | Promise<T>, interval_ms = 5): Promise<T> {
  return vi.waitFor(check, { timeout: LIMIT_MS, interval: interval_ms })
}
