/** Ends a name that is for all names that begin with what is before it. */
export const WILDCARD = '*'

interface Pattern<T> {
  readonly prefix: string
  readonly value: T
  /** The longest other pattern that this one begins with. */
  readonly parent: Pattern<T> | null
}

/** Patterns that end in `*`, to be found by a name. Their number hardly matters for the time. */
export class NamePatterns<T> {
  /** In the order of their prefixes. */
  readonly #sorted: readonly Pattern<T>[]

  /** @param byPattern values by their patterns, each with `*` at its end */
  constructor(byPattern: Iterable<readonly [pattern: string, value: T]>) {
    const prefixes = [...byPattern]
      .map(([pattern, value]) => ({ prefix: pattern.slice(0, -WILDCARD.length), value }))
      .sort((a, b) => (a.prefix < b.prefix ? -1 : 1))
    const sorted: Pattern<T>[] = []
    for (const { prefix, value } of prefixes) {
      let parent: Pattern<T> | null = sorted.at(-1) ?? null
      while (parent !== null && !prefix.startsWith(parent.prefix)) parent = parent.parent
      sorted.push({ prefix, value, parent })
    }
    this.#sorted = sorted
  }

  /** Adds the values of all patterns that fit the name to `into`, that of the longest first. */
  collect(name: string, into: Set<T>): void {
    // All that lies between a prefix of the name and the name begins with that prefix. So the
    // patterns that fit are ancestors of the last one that is not after the name.
    let pattern = this.#lastUpTo(name)
    while (pattern !== null && !name.startsWith(pattern.prefix)) pattern = pattern.parent
    for (; pattern !== null; pattern = pattern.parent) into.add(pattern.value)
  }

  #lastUpTo(name: string): Pattern<T> | null {
    let [low, high] = [0, this.#sorted.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#sorted[middle]!.prefix <= name) low = middle + 1
      else high = middle
    }
    return low === 0 ? null : this.#sorted[low - 1]!
  }
}
