/**
 * A result as a tree of parts that may be left out. A part is only kept with everything above it.
 * The arrays are flat, with parents before their children. Levels of detail and alternative formats
 * are chains: each level is the child of the one below it, with its cost and value beyond that.
 */
export interface TrimTree {
  /** By node: its parent, which comes before it; -1 for node 0, the root, and for no other. */
  readonly parent: Int32Array
  /** By node: its own cost in tokens, without those above it; not negative. */
  readonly cost: Int32Array
  /** By node: its value beyond those above it; finite, not negative, and so is their sum. */
  readonly value: Float64Array
  /** By node: 1 if it must be kept, and with it all above it. The root always is. */
  readonly required?: Uint8Array
}

/** @throws RangeError if a tree's numbers are not as `TrimTree` describes them; O(n) */
export function checkTree({ parent, cost, value, required }: TrimTree): void {
  const size = parent.length
  if (size === 0) throw new RangeError('parent: expected at least the root')
  if (cost.length !== size || value.length !== size || (required?.length ?? size) !== size) {
    throw new RangeError('the arrays do not belong together')
  }
  if (parent[0] !== -1) throw new RangeError('parent[0]: expected -1')
  let total = 0
  for (let i = 0; i < size; i++) {
    if (i > 0 && !(parent[i]! >= 0 && parent[i]! < i)) {
      throw new RangeError(`parent[${i}]: expected a node before it`)
    }
    if (cost[i]! < 0) throw new RangeError(`cost[${i}]: expected no negative number`)
    if (!(value[i]! >= 0)) throw new RangeError(`value[${i}]: expected a number, not negative`)
    total += value[i]!
  }
  if (!(total < Infinity)) throw new RangeError('value: the sum is not a finite number')
}
