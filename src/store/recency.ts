/** When something was last done for a key; forgets the oldest beyond its size. */
export interface Recency {
  /** Whether `everyMs` have passed since it was done for the key. */
  isDue(key: string, now: number, everyMs: number): boolean
  /** It was done. */
  done(key: string, now: number): void
}

const MAX_KEYS = 10_000

export function createRecency(): Recency {
  const last = new Map<string, number>()
  return {
    isDue(key, now, everyMs) {
      const before = last.get(key)
      // A clock that went back is no reason to wait.
      return before === undefined || now < before || now - before >= everyMs
    },
    done(key, now) {
      last.delete(key)
      last.set(key, now)
      if (last.size > MAX_KEYS) last.delete(last.keys().next().value as string)
    },
  }
}
