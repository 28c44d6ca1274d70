/** What became of a text: what is written in its place, or nothing. */
export interface CachedRewrite {
  /** `null`: it stays as it is. */
  readonly text: string | null
  readonly tokensSaved: number
}

/** Texts that a thread has written lately: a request brings all of its conversation again. */
export interface RewriteCache {
  get(key: string): CachedRewrite | undefined
  set(key: string, value: CachedRewrite): void
}

/** What an entry takes beside its text, about. */
const ENTRY_BYTES = 256
const BYTES_PER_CHAR = 2

/**
 * Forgets what was least recently used.
 * @param maxBytes of all texts and their keys, about
 */
export function createRewriteCache(maxBytes: number): RewriteCache {
  const entries = new Map<string, CachedRewrite>()
  let bytes = 0

  function remove(key: string, value: CachedRewrite): void {
    entries.delete(key)
    bytes -= sizeOf(value)
  }

  return {
    get(key) {
      const value = entries.get(key)
      if (value !== undefined) {
        entries.delete(key)
        entries.set(key, value)
      }
      return value
    },
    set(key, value) {
      const before = entries.get(key)
      if (before !== undefined) remove(key, before)
      if (sizeOf(value) > maxBytes) return
      entries.set(key, value)
      bytes += sizeOf(value)
      for (const [oldest, old] of entries) {
        if (bytes <= maxBytes) break
        remove(oldest, old)
      }
    },
  }
}

function sizeOf({ text }: CachedRewrite): number {
  return ENTRY_BYTES + BYTES_PER_CHAR * (text?.length ?? 0)
}
