import { BoundedMap } from '../base/bounded-map.ts'

/** Finds out how far back a session's results repeat. */
export interface Repeats {
  /** Whether this call's result came before with this very content; remembers it. */
  isRetry(content: string, call: string): boolean
  /**
   * Different results since the last one with this content in the same partition; `undefined` if
   * there was none.
   * @param content what distinguishes contents
   */
  next(content: string, partition: number): number | undefined
}

/**
 * Results that come back after more different ones count as new: no memory of a session is that
 * long.
 */
const REMEMBERED = 256
/** A retry comes soon after its call. */
const REMEMBERED_CALLS = 64

/** Follows one session; takes memory for the last 256 different contents and 64 calls. */
export function createRepeats(): Repeats {
  /** The latest at the end, as in `contents`. */
  const calls = new BoundedMap<string, string>(REMEMBERED_CALLS)
  let contents = new Set<string>()
  let current = 0
  return {
    isRetry(content, call) {
      if (calls.get(call) === content) return true
      calls.set(call, content)
      return false
    },
    next(content, partition) {
      if (partition !== current) {
        current = partition
        contents = new Set()
      }
      // Most results are new, and found to be so at once.
      const distance = contents.has(content) ? countAfter(contents, content) : undefined
      if (distance !== undefined) contents.delete(content)
      else if (contents.size === REMEMBERED)
        contents.delete(contents.values().next().value as string)
      contents.add(content)
      return distance
    },
  }
}

/** How many values come after this one. */
function countAfter(set: ReadonlySet<string>, value: string): number {
  let count = set.size
  for (const each of set) {
    count--
    if (each === value) break
  }
  return count
}
