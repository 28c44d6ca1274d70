import type { Forest } from './forest.ts'
import { type Priced, slackOf } from './lagrangian.ts'

/**
 * By node: the least and the highest budget that a solution of the needed value can have left when
 * it comes to the node. If none can come there, the least is above the highest.
 */
export interface Windows {
  readonly low: Int32Array
  readonly high: Int32Array
}

/** Cells that a window is wider on each side than the bounds say, for rounding. */
const MARGIN = 1

/**
 * Windows by pairs of prices. What the nodes before a node bring is bounded by the forest's value
 * at one price of cost, and what the others bring by its value at another. Between a dear and a
 * cheap price, both hold only near the budgets at which good solutions come to the node. O(n) for
 * each pair
 * @param limits by node: the highest budget that can be left there
 * @param needed in units, above the forest's base
 */
export function windowsOf(
  forest: Forest,
  prices: readonly Priced[],
  limits: Int32Array,
  needed: number,
): Windows {
  const { size, budget } = forest
  const low = new Int32Array(size)
  const high = Int32Array.from(limits)
  const befores = prices.map(priced => valuesBefore(forest, priced))
  const slacks = prices.map(({ price }) => slackOf(forest, price))
  for (const [k, { price: dear }] of prices.entries()) {
    const before = befores[k]!
    for (const [l, { price, rest }] of prices.entries()) {
      const slope = price - dear
      if (slope === 0) continue
      const least = needed - slacks[k]! - slacks[l]! - dear * budget
      for (let i = 0; i < size; i++) {
        const left = (least - before[i]! - rest[i]!) / slope
        if (slope > 0) {
          const from = left - MARGIN
          if (from > low[i]!) low[i] = Math.min(budget + 1, Math.ceil(from))
        } else {
          const to = left + MARGIN
          if (to < high[i]!) high[i] = Math.max(-1, Math.floor(to))
        }
      }
    }
  }
  return { low, high }
}

/**
 * By node: what the nodes before it bring at most, less their price, if all above it is kept.
 */
function valuesBefore(
  { size, parent, end, cost, value }: Forest,
  { price, gain }: Priced,
): Float64Array {
  const before = new Float64Array(size)
  for (let i = 0; i < size; i++) {
    const next = end[i]!
    if (i + 1 < next) before[i + 1] = before[i]! + value[i]! - price * cost[i]!
    if (next < size && parent[next] === parent[i]) before[next] = before[i]! + Math.max(0, gain[i]!)
  }
  return before
}
