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

interface Result {
  readonly content: string
  readonly call: string | undefined
}

/** Follows one session; takes memory for the last 256 different contents. */
export function createRepeats(): Repeats {
  /** The latest at the end. */
  let recent: Result[] = []
  let current = 0
  return {
    isRetry(content, partition, call) {
      return partition === current && recent.some(r => r.content === content && r.call === call)
    },
    next(content, partition, call) {
      if (partition !== current) {
        current = partition
        recent = []
      }
      const at = recent.findLastIndex(result => result.content === content)
      const distance = at === -1 ? undefined : recent.length - 1 - at
      if (distance !== undefined) recent.splice(at, 1)
      else if (recent.length === REMEMBERED) recent.shift()
      recent.push({ content, call })
      return distance
    },
  }
}
