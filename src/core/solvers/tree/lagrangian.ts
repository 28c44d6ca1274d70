import type { Forest } from './forest.ts'

/** The value of the forest at a price of cost: the Lagrangian relaxation, which needs no budget. */
export interface Priced {
  /** Units a step of cost. */
  readonly price: number
  /**
   * By node: the value of it and of the best nodes below it, less their price, if all above it is
   * kept. It may be negative.
   */
  readonly gain: Float64Array
  /**
   * By node, and one more: the sum of the positive gains of it and of all later nodes, without
   * those below another such node.
   */
  readonly rest: Float64Array
  /** By node, and one more: the cost of the nodes that `rest` sums up, in steps. */
  readonly restCost: Float64Array
  /** By node, and one more: the value of the nodes that `rest` sums up, in units. */
  readonly restValue: Float64Array
}

/** Units, for a step of cost, from the last node to the first. O(n) */
export function priced({ size, parent, end, cost, value }: Forest, price: number): Priced {
  const gain = new Float64Array(size)
  // First these are sums below a node, then sums of the best from it on. Small terms come first,
  // which keeps all sums below the total value.
  const best = new Float64Array(size)
  const bestCost = new Float64Array(size)
  const bestValue = new Float64Array(size)
  const rest = new Float64Array(size + 1)
  const restCost = new Float64Array(size + 1)
  const restValue = new Float64Array(size + 1)
  for (let i = size - 1; i >= 0; i--) {
    gain[i] = best[i]! + value[i]! - price * cost[i]!
    const after = end[i]!
    rest[i] = rest[after]!
    restCost[i] = restCost[after]!
    restValue[i] = restValue[after]!
    if (gain[i]! <= 0) continue
    const [allCost, allValue] = [bestCost[i]! + cost[i]!, bestValue[i]! + value[i]!]
    rest[i]! += gain[i]!
    restCost[i]! += allCost
    restValue[i]! += allValue
    const up = parent[i]!
    if (up === -1) continue
    best[up]! += gain[i]!
    bestCost[up]! += allCost
    bestValue[up]! += allValue
  }
  return { price, gain, rest, restCost, restValue }
}

/** Calls `take` with the nodes that `rest` sums up at a node. */
export function takeRest(
  { size, end }: Forest,
  { gain }: Priced,
  from: number,
  take: (node: number) => void,
): void {
  for (let i = from; i < size; ) {
    if (gain[i]! > 0) take(i++)
    else i = end[i]!
  }
}

/**
 * Units that a bound may be too low by for rounding: each node adds five roundings of numbers that
 * are no larger than the larger of all values' sum and the price of the budget.
 */
export function slackOf({ size, value, budget }: Forest, price: number): number {
  let total = 0
  for (let i = 0; i < size; i++) total += value[i]!
  return 8 * (size + 1) * Math.max(total, price * budget) * 2 ** -53
}
