/** Finds out how far back a session's results repeat. */
export interface Repeats {
  /**
   * Different results since the last one with this content in the same partition; `undefined` where there was none.
   * @param content what tells contents apart
   */
  next(content: string, partition: number): number | undefined
}

/** Results that come back after more different ones count as new: no memory of a session is that long. */
const REMEMBERED = 256

/** Follows one session; takes memory for the last 256 different contents. */
export function createRepeats(): Repeats {
  /** The latest at the end. */
  let recent: string[] = []
  let current = 0
  return {
    next(content, partition) {
      if (partition !== current) {
        current = partition
        recent = []
      }
      const at = recent.lastIndexOf(content)
      const distance = at === -1 ? undefined : recent.length - 1 - at
      if (distance !== undefined) recent.splice(at, 1)
      else if (recent.length === REMEMBERED) recent.shift()
      recent.push(content)
      return distance
    },
  }
}
