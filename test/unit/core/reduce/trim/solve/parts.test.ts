import { describe, expect, it } from 'vitest'
import { blocksOf } from '../../../../../../src/core/solvers/tree/blocks.ts'
import { settle } from '../../../../../../src/core/solvers/tree/exact.ts'
import { type Forest, forestOf } from '../../../../../../src/core/solvers/tree/forest.ts'
import { priced, takeRest } from '../../../../../../src/core/solvers/tree/lagrangian.ts'
import { relax } from '../../../../../../src/core/solvers/tree/relaxation.ts'
import { search } from '../../../../../../src/core/solvers/tree/search.ts'
import { DROPPED, JOINED, OPEN, statusOf } from '../../../../../../src/core/solvers/tree/status.ts'
import { cellsOf, solveByTable, windowsOf } from '../../../../../../src/core/solvers/tree/table.ts'
import type { TrimTree } from '../../../../../../src/core/solvers/tree/tree.ts'
import { FULL_RUNS } from '../../../../../support/runs.ts'
import { FAMILIES, type Family, makeTree } from '../../../../../support/trim/families.ts'
import { naiveValue } from '../../../../../support/trim/naive.ts'
import { treeOf } from './oracles.ts'

const families = Object.keys(FAMILIES) as Family[]
const BUDGET = 900

/** A tree with whole values, which are units as they are. */
function whole(family: Family, size: number, seed = 7): TrimTree {
  const tree = makeTree(family, size, seed)
  return { ...tree, value: tree.value.map(value => Math.ceil(value * 1_000)) }
}

function forestFor(tree: TrimTree, budget: number): Forest {
  return forestOf(tree, tree.value, statusOf(tree, budget).status, budget)
}

/** Whether what is taken is closed upwards and fits, and what it is worth. */
function totalValue({ size, parent, cost, value, budget }: Forest, taken: Uint8Array): number {
  let [spent, worth] = [0, 0]
  for (let i = 0; i < size; i++) {
    if (taken[i] === 0) continue
    const up = parent[i]!
    if (up !== -1 && taken[up] === 0) throw new Error(`node ${i} hangs on nothing`)
    spent += cost[i]!
    worth += value[i]!
  }
  if (spent > budget) throw new Error(`${spent} of ${budget} steps`)
  return worth
}

describe.each(families)('%s', family => {
  const tree = whole(family, 700)
  const forest = forestFor(tree, BUDGET)
  const best = naiveValue(tree, BUDGET) - forest.base

  it('is a forest in depth-first order', () => {
    for (let i = 0; i < forest.size; i++) {
      const up = forest.parent[i]!
      expect(up).toBeLessThan(i)
      expect(forest.cost[i]).toBeGreaterThan(0)
      if (up !== -1) expect(forest.end[i]).toBeLessThanOrEqual(forest.end[up]!)
    }
  })

  it('has blocks of falling density, parents first, each node once', () => {
    const { order, starts, densities } = blocksOf(forest)
    expect([...order].sort((a, b) => a - b)).toEqual([...forest.node.keys()])
    expect([...densities]).toEqual([...densities].sort((a, b) => b - a))
    for (let b = 0; b < densities.length; b++) {
      const nodes = [...order.subarray(starts[b]!, starts[b + 1]!)]
      const [first, ...others] = nodes
      for (const i of others) expect(nodes).toContain(forest.parent[i])
      expect(nodes).not.toContain(forest.parent[first!])
      const sum = (of: Float64Array) => nodes.reduce((total, i) => total + of[i]!, 0)
      expect(densities[b]).toBeCloseTo(sum(forest.value) / sum(forest.cost), 9)
    }
  })

  it('is worth at most what the relaxation says, at every price', () => {
    const { bound, main } = relax(forest, true)
    expect(bound).toBeGreaterThanOrEqual(best)
    for (const factor of [0, 0.5, 0.9, 0.99, 1.01, 1.1, 2]) {
      const { rest, price } = priced(forest, main.price * factor)
      const other = rest[0]! + price * forest.budget
      expect(other).toBeGreaterThanOrEqual(best)
      expect(other).toBeGreaterThanOrEqual(bound - 1e-6 * bound)
    }
  })

  it('has a rest that is closed upwards, and costs and is worth what is said', () => {
    const at = relax(forest, true).main
    const taken = new Uint8Array(forest.size)
    takeRest(forest, at, 0, node => {
      taken[node] = 1
    })
    expect(totalValue({ ...forest, budget: at.restCost[0]! }, taken)).toBe(at.restValue[0])
  })

  it('is solved by the table', () => {
    expect(cellsOf(forest)).toBeLessThanOrEqual((BUDGET + 1) * forest.size)
    const { taken, value } = solveByTable(forest, [], 0)!
    expect([value, totalValue(forest, taken)]).toEqual([best, best])
  })

  it('is solved by the table in the same way if bounds leave out most budgets', () => {
    const { main } = relax(forest, true)
    const prices = [1, 1.02, 0.98, 1.1, 0.9, 1.5, 0.6].map(by => priced(forest, main.price * by))
    const all = solveByTable(forest, [], 0)
    for (const needed of [0, best * 0.99, best - 1, best]) {
      expect(solveByTable(forest, prices, needed)).toEqual(all)
    }
    expect(solveByTable(forest, prices, best + 1)).toBeNull()
  })

  it('is solved by the search alone', () => {
    const { main, lattice } = relax(forest, true)
    const options = { maxWork: Infinity, lead: 1, width: Infinity }
    const found = search(forest, [main], lattice, -1, options)
    expect([found.isComplete, found.value, totalValue(forest, found.taken!)]).toEqual([
      true,
      best,
      best,
    ])
    expect(search(forest, [main], lattice, best, options)).toMatchObject({
      isComplete: true,
      taken: null,
    })
  })

  it('has a solution by a narrow search, which proves nothing', () => {
    const { main, lattice } = relax(forest, true)
    const found = search(forest, [main], lattice, -1, { maxWork: Infinity, lead: 1, width: 2 })
    expect(totalValue(forest, found.taken!)).toBe(found.value)
    expect(found.value).toBeLessThanOrEqual(best)
  })

  it('loses no better solution when nodes are settled', () => {
    const { status } = statusOf(tree, BUDGET)
    const { bound, main } = relax(forest, true)
    const settled = settle(forest, main, bound - best, status)
    const rest = forestOf(tree, tree.value, status, BUDGET)
    expect(rest.size).toBeLessThanOrEqual(forest.size - settled)
    expect(rest.base + solveByTable(rest, [], 0)!.value).toBe(forest.base + best)
  })
})

it('finds a solution again after much of the history was dropped', () => {
  for (let seed = 0; seed < (FULL_RUNS ? 6 : 1); seed++) {
    const forest = forestFor(whole('narrow', 1_500, seed), 2_000)
    const { main, lattice } = relax(forest, true)
    const prices = [1.02, 0.98, 1.1, 0.9].map(factor => priced(forest, main.price * factor))
    const options = { maxWork: Infinity, lead: 1, width: Infinity }
    const { taken, value } = search(forest, [main, ...prices], lattice, -1, options)
    expect([value, totalValue(forest, taken!)]).toEqual([solveByTable(forest, [], 0)!.value, value])
  }
})

it('leaves out budgets at which no solution of the needed value comes to a node', () => {
  const forest = forestFor(whole('narrow', 1_500), 2_000)
  const { main } = relax(forest, true)
  const prices = [1, 1.1, 0.9].map(by => priced(forest, main.price * by))
  const limits = new Int32Array(forest.size).fill(forest.budget)
  const { value, taken } = solveByTable(forest, [], 0)!
  const { low, high } = windowsOf(forest, prices, limits, value)
  let [left, cells] = [forest.budget, 0]
  for (let i = 0; i < forest.size; i++) cells += Math.max(0, high[i]! - low[i]! + 1)
  for (let i = 0; i < forest.size; ) {
    expect(low[i]).toBeLessThanOrEqual(left)
    expect(high[i]).toBeGreaterThanOrEqual(left)
    if (taken[i] === 1) left -= forest.cost[i++]!
    else i = forest.end[i]!
  }
  expect(cells).toBeLessThan((forest.size * forest.budget) / 2)
})

it('stops a search that will not do in time, with a bound that holds', () => {
  const forest = forestFor(whole('narrow', 700), BUDGET)
  const { main, lattice } = relax(forest, true)
  const options = { maxWork: 20_000, lead: 0.1, width: Infinity }
  const found = search(forest, [main], lattice, -1, options)
  expect([found.isComplete, found.work < 20_000]).toEqual([false, true])
  expect(found.bound).toBeGreaterThanOrEqual(solveByTable(forest, [], 0)!.value)
})

it('settles what a single look decides', () => {
  const tree = treeOf([
    [-1, 0, 0],
    [0, 5, 100],
    [0, 5, 50],
    [0, 5, 49],
    [0, 5, 1],
  ])
  const { status } = statusOf(tree, 12)
  const forest = forestOf(tree, tree.value, status, 12)
  // The third is the first that does not fit: 49 is the price, and what the others lose is 51, 1
  // and 48.
  const { main } = relax(forest, true)
  expect(settle(forest, main, 1.5, status)).toBe(2)
  expect([...status]).toEqual([JOINED, JOINED, OPEN, OPEN, DROPPED])
})
