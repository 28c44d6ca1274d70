import type { Forest } from './forest.ts'

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
 * The most valuable choice by a table. For every node, from the last to the first, and every budget
 * left there, the table has the value that the node and all later ones can add if its parent is
 * kept (Johnson and Niemi 1983). A node's row has only the budgets that remain after the nodes
 * above it are paid. O(cells) time. At most log2(n) + 2 rows exist at once, as long as siblings are
 * in the order of `forestOf`.
 */
export function solveByTable(forest: Forest): {
  readonly taken: Uint8Array
  readonly value: number
} {
  const { size, end, cost, value, budget } = forest
  const limits = limitsOf(forest)
  const wordStarts = new Float64Array(size + 1)
  for (let i = 0; i < size; i++) wordStarts[i + 1] = wordStarts[i]! + (limits[i]! >>> 5) + 1
  const choices = new Int32Array(wordStarts[size]!)
  const rows = new Map<number, Float64Array>([[size, new Float64Array(budget + 1)]])
  // Rows are used by the node before and by all whose subtrees end there; the first of those is the
  // last to need it.
  const users = new Int32Array(size + 1)
  for (let i = 0; i < size; i++) users[end[i]!]!++
  const free: Float64Array[] = []
  for (let i = size - 1; i >= 0; i--) {
    const after = end[i]!
    const row = free.pop() ?? new Float64Array(budget + 1)
    const skipped = rows.get(after)!
    const kept = rows.get(i + 1)!
    const words = choices.subarray(wordStarts[i]!, wordStarts[i + 1]!)
    fillRow(row, skipped, kept, { cost: cost[i]!, value: value[i]!, limit: limits[i]! }, words)
    users[after]!--
    rows.set(i, row)
    for (const place of after === i + 1 ? [after] : [i + 1, after]) {
      if (users[place]! > 0) continue
      free.push(rows.get(place)!)
      rows.delete(place)
    }
  }
  const best = size === 0 ? 0 : rows.get(0)![budget]!
  const taken = new Uint8Array(size)
  let left = budget
  for (let i = 0; i < size; ) {
    const word = choices[wordStarts[i]! + (left >>> 5)]!
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

interface Row {
  readonly cost: number
  readonly value: number
  /** The largest budget of the row. */
  readonly limit: number
}

/**
 * The innermost loop has no branch, which would be mispredicted. So it takes two thirds of the
 * time.
 */
function fillRow(
  row: Float64Array,
  skipped: Float64Array,
  kept: Float64Array,
  { cost, value, limit }: Row,
  words: Int32Array,
): void {
  for (let b = 0; b < cost; b++) row[b] = skipped[b]!
  let word = 0
  for (let b = cost; b <= limit; b++) {
    const without = skipped[b]!
    const withNode = kept[b - cost]! + value
    row[b] = Math.max(without, withNode)
    // A shift counts modulo 32.
    word |= Number(withNode > without) << b
    if ((b & 31) === 31) {
      words[b >>> 5] = word
      word = 0
    }
  }
  if ((limit & 31) !== 31) words[limit >>> 5] = word
}
