import type { Forest } from './forest.ts'
import { type Priced, slackOf } from './lagrangian.ts'

/** Cells of a table: budgets that each node may meet. A cell takes a bit of memory. */
export function cellsOf({ size, parent, cost, budget }: Forest): number {
  const path = new Float64Array(size)
  let cells = 0
  for (let i = 0; i < size; i++) {
    const up = parent[i]!
    const above = up === -1 ? 0 : path[up]!
    path[i] = above + cost[i]!
    cells += budget - above + 1
  }
  return cells
}

/**
 * The most valuable choice by a table, if its value is at least the needed one. For every node,
 * from the last to the first, and every budget left there, the table has the value that the node
 * and all later ones can add if its parent is kept (Johnson and Niemi 1983). A node's row has only
 * the budgets that a solution of the needed value can have left there. So all such solutions are
 * compared, and the choice is the same as if all budgets were. O(cells) time. At most log2(n) + 2
 * rows exist at once, as long as siblings are in the order of `forestOf`.
 * @param prices for bounds
 * @param needed in units, above the forest's base
 * @returns `null` if no choice has the needed value
 */
export function solveByTable(
  forest: Forest,
  prices: readonly Priced[],
  needed: number,
): { readonly taken: Uint8Array; readonly value: number } | null {
  const { size, end, cost, value, budget } = forest
  if (size === 0) return needed > 0 ? null : { taken: new Uint8Array(0), value: 0 }
  const { low, high } = windowsOf(forest, prices, limitsOf(forest), needed)
  // By node: the first word of its choices, as if they began with budget 0.
  const words = new Float64Array(size)
  let count = 0
  for (let i = 0; i < size; i++) {
    const first = low[i]! >>> 5
    words[i] = count - first
    if (low[i]! <= high[i]!) count += (high[i]! >>> 5) - first + 1
  }
  const choices = new Int32Array(count)
  const rows = new Map<number, Float64Array>([[size, new Float64Array(budget + 1)]])
  // Rows are used by the node before and by all whose subtrees end there; the first of those is the
  // last to need it.
  const users = new Int32Array(size + 1)
  for (let i = 0; i < size; i++) users[end[i]!]!++
  /** Rows without any budget. */
  const free: Float64Array[] = []
  for (let i = size - 1; i >= 0; i--) {
    const after = end[i]!
    const row = free.pop() ?? new Float64Array(budget + 1).fill(-Infinity)
    const node = { cost: cost[i]!, value: value[i]!, low: low[i]!, high: high[i]! }
    fillRow(row, rows.get(after)!, rows.get(i + 1)!, node, choices, words[i]!)
    users[after]!--
    rows.set(i, row)
    for (const place of after === i + 1 ? [after] : [i + 1, after]) {
      if (users[place]! > 0) continue
      const [from, to] = place === size ? [0, budget] : [low[place]!, high[place]!]
      if (from <= to) free.push(rows.get(place)!.fill(-Infinity, from, to + 1))
      else free.push(rows.get(place)!)
      rows.delete(place)
    }
  }
  const best = rows.get(0)![budget]!
  if (best < needed) return null
  const taken = new Uint8Array(size)
  let left = budget
  for (let i = 0; i < size; ) {
    const word = choices[words[i]! + (left >>> 5)]!
    if (((word >>> (left & 31)) & 1) === 1) {
      taken[i] = 1
      left -= cost[i]!
      i++
    } else i = end[i]!
  }
  return { taken, value: best }
}

/** By node: the largest budget that it can meet. */
function limitsOf({ size, parent, cost, budget }: Forest): Int32Array {
  const limits = new Int32Array(size)
  for (let i = 0; i < size; i++) {
    const up = parent[i]!
    limits[i] = up === -1 ? budget : limits[up]! - cost[up]!
  }
  return limits
}

interface TableRow {
  readonly cost: number
  readonly value: number
  /** The budgets of the row; none if `low` is above `high`. */
  readonly low: number
  readonly high: number
}

/**
 * The innermost loop has no branch, which would be mispredicted. So it takes two thirds of the
 * time.
 * @param first the place of the row's first word, as if the row began with budget 0
 */
function fillRow(
  row: Float64Array,
  skipped: Float64Array,
  kept: Float64Array,
  { cost, value, low, high }: TableRow,
  words: Int32Array,
  first: number,
): void {
  const unaffordable = Math.min(cost - 1, high)
  for (let b = low; b <= unaffordable; b++) row[b] = skipped[b]!
  const start = Math.max(low, cost)
  if (start > high) return
  let word = 0
  for (let b = start; b <= high; b++) {
    const without = skipped[b]!
    const withNode = kept[b - cost]! + value
    row[b] = Math.max(without, withNode)
    // A shift counts modulo 32.
    word |= Number(withNode > without) << b
    if ((b & 31) === 31) {
      words[first + (b >>> 5)] = word
      word = 0
    }
  }
  if ((high & 31) !== 31) words[first + (high >>> 5)] = word
}

/**
 * By node: the least and the highest budget that a solution of the needed value can have left when
 * it comes to the node. If none can come there, the least is above the highest.
 */
interface Windows {
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
