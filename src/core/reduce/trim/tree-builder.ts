import type { TrimTree } from '../../solvers/tree/tree.ts'

/** Grows a tree of parts from its root, which is node 0 and costs nothing yet. */
export interface TreeBuilder {
  /**
   * A new node below `parent`, by its number. Tokens may be fractions; they are rounded up in the
   * end.
   */
  add(parent: number, cost?: number, value?: number): number
  /** More that is kept with a node. */
  grow(node: number, cost: number, value: number): void
  /** The node must be kept, with all above it. */
  require(node: number): void
  build(): TrimTree
}

export function createTreeBuilder(): TreeBuilder {
  const parents: number[] = [-1]
  const costs: number[] = [0]
  const values: number[] = [0]
  const required: number[] = []
  return {
    add(parent, cost = 0, value = 0) {
      parents.push(parent)
      costs.push(cost)
      values.push(value)
      return parents.length - 1
    },
    grow(node, cost, value) {
      costs[node]! += cost
      values[node]! += value
    },
    require(node) {
      required.push(node)
    },
    build() {
      const flags = new Uint8Array(parents.length)
      for (const node of required) flags[node] = 1
      return {
        parent: Int32Array.from(parents),
        cost: Int32Array.from(costs, Math.ceil),
        value: Float64Array.from(values),
        ...(required.length === 0 ? {} : { required: flags }),
      }
    },
  }
}
