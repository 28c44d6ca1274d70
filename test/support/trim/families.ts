import type { TrimTree } from '../../../src/core/solvers/tree/tree.ts'
import type { Random } from '../../../src/lab/bill/statistics.ts'
import { createXorshift } from '../xorshift.ts'

interface Node {
  readonly parent: number
  readonly cost: number
  readonly value: number
}

/** Generated trees by family: `size` nodes, the root among them, of ten tokens or so each. */
export const FAMILIES = {
  /** All nodes below the root; values at random. */
  flat: (random, size) => many(random, size, () => 0),
  /** Twenty chains. */
  chains: (random, size) => many(random, size, i => (i <= 20 ? 0 : i - 20)),
  /** One chain. */
  chain: (random, size) => many(random, size, i => i - 1),
  /** Parents at random. */
  random: (random, size) => many(random, size, i => random(i)),
  /**
   * Parents at random among the twenty nodes before: deep and narrow, where the relaxation says the
   * least.
   */
  narrow: (random, size) => many(random, size, i => Math.max(0, i - 1 - random(20))),
  /** Parents at random, values = cost + 10. */
  'strongly correlated': (random, size) =>
    many(
      random,
      size,
      i => random(i),
      cost => cost + 10,
    ),
  /** Parents at random, all values 1. */
  'equal values': (random, size) =>
    many(
      random,
      size,
      i => random(i),
      () => 1,
    ),
  /** Parents at random, values = costs. */
  'values are costs': (random, size) =>
    many(
      random,
      size,
      i => random(i),
      cost => cost,
    ),
  /**
   * Items with fields in three levels of detail, and threads of comments below some; see `results`.
   */
  results: (random, size) => results(random, size),
} as const satisfies Record<string, (random: Random, size: number) => Node[]>

export type Family = keyof typeof FAMILIES

/** The same arguments give the same tree. */
export function makeTree(family: Family, size: number, seed: number): TrimTree {
  // The generator's first numbers say much of its seed.
  const random = createXorshift(Math.imul(seed + 1, 0x9e3779b1))
  for (let i = 0; i < 16; i++) random(2)
  const nodes = FAMILIES[family](random, size)
  return {
    parent: Int32Array.from(nodes, ({ parent }) => parent),
    cost: Int32Array.from(nodes, ({ cost }) => cost),
    value: Float64Array.from(nodes, ({ value }) => value),
  }
}

const ROOT: Node = { parent: -1, cost: 0, value: 0 }

function many(
  random: Random,
  size: number,
  parentOf: (node: number) => number,
  totalValue: (cost: number) => number = () => (1 + random(1_000_000)) / 1_000_000,
): Node[] {
  const nodes = [ROOT]
  for (let i = 1; i < size; i++) {
    const cost = 1 + random(20)
    nodes.push({ parent: parentOf(i), cost, value: totalValue(cost) })
  }
  return nodes
}

/**
 * A list as the trimming of results makes it: item i of n is worth 1 - 0.7 i/n a token; an item is
 * a chain of levels, its description hangs on the second; its comments hang on a node that costs
 * nothing, the first and the last of a thread worth all, those between half.
 */
function results(random: Random, size: number): Node[] {
  const nodes = [ROOT]
  const items = Math.ceil(size / 12)
  const add = (parent: number, cost: number, worth: number): number =>
    nodes.push({ parent, cost, value: worth * cost }) - 1
  for (let item = 0; nodes.length < size; item++) {
    const worth = Math.max(0.3, 1 - (0.7 * item) / items)
    const minimal = add(0, 12 + random(20), worth)
    const standard = add(minimal, 15 + random(30), 0.8 * worth)
    add(standard, 30 + random(60), 0.4 * worth)
    add(standard, 20 + random(400), 0.6 * worth)
    const comments = random(16)
    if (comments === 0) continue
    const thread = add(minimal, 0, 0)
    const isResolved = random(2) === 0
    for (let k = 0; k < comments; k++) {
      const isEdge = k === 0 || k === comments - 1
      add(thread, 10 + random(120), worth * (isResolved ? 0.3 : 1) * (isEdge ? 1 : 0.5))
    }
  }
  return nodes.slice(0, size)
}
