/**
 * Numbers `0 … keys.length - 1` by rising key, the smaller number first among equals; taken off one
 * by one.
 */
export interface Heap {
  /** The first; undefined if there is none. */
  peek(): number | undefined
  /** Takes the first off. */
  pop(): void
}

/** A binary heap, made in linear time. The keys must not change. */
export function createHeap(keys: Float64Array): Heap {
  const items = Uint32Array.from(keys, (_, i) => i)
  let size = items.length
  for (let at = (size >> 1) - 1; at >= 0; at--) sink(at)

  function isBefore(a: number, b: number): boolean {
    const [first, second] = [keys[a]!, keys[b]!]
    return first < second || (first === second && a < b)
  }

  function sink(start: number): void {
    const item = items[start]!
    let at = start
    for (;;) {
      let child = 2 * at + 1
      if (child >= size) break
      if (child + 1 < size && isBefore(items[child + 1]!, items[child]!)) child++
      if (!isBefore(items[child]!, item)) break
      items[at] = items[child]!
      at = child
    }
    items[at] = item
  }

  return {
    peek: () => (size === 0 ? undefined : items[0]),
    pop() {
      items[0] = items[--size]!
      if (size > 0) sink(0)
    },
  }
}
