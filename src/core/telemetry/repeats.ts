/** Finds out how far back a session's results repeat. */
export interface Repeats {
  /** Whether this very result came before: the same call with the same content, in the same partition. */
  isRetry(content: string, partition: number, call: string): boolean
  /**
   * Different results since the last one with this content in the same partition; `undefined` where there was none.
   * @param content what tells contents apart
   * @param call what tells calls apart, where that is known
   */
  next(content: string, partition: number, call?: string): number | undefined
}

/** Results that come back after more different ones count as new: no memory of a session is that long. */
const REMEMBERED = 256

/** Follows one session; takes memory for the last 256 different contents. */
export function createRepeats(): Repeats {
  /** Calls by the contents that they had; the latest at the end. */
  let recent = new Map<string, string | undefined>()
  let current = 0
  return {
    isRetry: (content, partition, call) => partition === current && recent.get(content) === call,
    next(content, partition, call) {
      if (partition !== current) {
        current = partition
        recent = new Map()
      }
      // Most results are new, and found to be so at once.
      const distance = recent.has(content) ? behind(recent, content) : undefined
      if (distance !== undefined) recent.delete(content)
      else if (recent.size === REMEMBERED) recent.delete(recent.keys().next().value as string)
      recent.set(content, call)
      return distance
    },
  }
}

/** How many keys come after this one. */
function behind(map: ReadonlyMap<string, unknown>, key: string): number {
  let count = map.size
  for (const each of map.keys()) {
    count--
    if (each === key) break
  }
  return count
}
