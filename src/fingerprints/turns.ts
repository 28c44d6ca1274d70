/** Does work of the same key one after the other, in the order in which it came. */
export interface Turns {
  /** What `work` returns, or throws, once it had its turn. */
  inTurn<T>(key: string, work: () => Promise<T>): Promise<T>
}

export function createTurns(): Turns {
  /** The end of the last one of each key. */
  const ends = new Map<string, Promise<void>>()

  return {
    inTurn(key, work) {
      const turn = (ends.get(key) ?? Promise.resolve()).then(work)
      const ended = () => {
        if (ends.get(key) === end) ends.delete(key)
      }
      const end: Promise<void> = turn.then(ended, ended)
      ends.set(key, end)
      return turn
    },
  }
}
