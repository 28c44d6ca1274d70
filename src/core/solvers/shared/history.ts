/** The node of a state in which every class is as in the break solution. */
export const ROOT = 0

/**
 * Which options led to a state: a tree with an edge for every pick that differs from the break
 * solution. 8 bytes a node, and five more while it is compacted.
 */
export interface History {
  readonly size: number
  /** The node of a state that was at `parent` and picks `option`. */
  add(parent: number, option: number): number
  /** The options on the way from `node` to the root. */
  trace(node: number): number[]
  /** Drops every node from which no node of `live` is reached, and renumbers `live` in place. */
  compact(live: readonly Int32Array[]): void
}

/** An empty history with room for `capacity` nodes; it grows as needed. */
export function createHistory(capacity: number): History {
  let parents = new Int32Array(capacity + 1)
  let options = new Int32Array(capacity + 1)
  let size = 1

  function grow(): void {
    const [oldParents, oldOptions] = [parents, options]
    parents = new Int32Array(2 * size)
    options = new Int32Array(2 * size)
    parents.set(oldParents)
    options.set(oldOptions)
  }

  return {
    get size() {
      return size
    },
    add(parent, option) {
      if (size === parents.length) grow()
      parents[size] = parent
      options[size] = option
      return size++
    },
    trace(node) {
      const path: number[] = []
      for (let at = node; at !== ROOT; at = parents[at]!) path.push(options[at]!)
      return path
    },
    compact(live) {
      // A parent has a smaller number than its children.
      const reached = new Uint8Array(size)
      for (const nodes of live) for (const node of nodes) reached[node] = 1
      for (let at = size - 1; at > ROOT; at--) if (reached[at] === 1) reached[parents[at]!] = 1
      const moved = new Int32Array(size)
      let next = 1
      for (let at = 1; at < size; at++) {
        if (reached[at] === 0) continue
        parents[next] = moved[parents[at]!]!
        options[next] = options[at]!
        moved[at] = next++
      }
      for (const nodes of live) {
        for (let i = 0; i < nodes.length; i++) nodes[i] = moved[nodes[i]!]!
      }
      size = next
    },
  }
}
