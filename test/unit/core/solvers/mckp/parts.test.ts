import { describe, expect, it } from 'vitest'
import { createHeap } from '../../../../../src/core/solvers/mckp/core.ts'
import { reduce } from '../../../../../src/core/solvers/mckp/reduce.ts'
import { relax } from '../../../../../src/core/solvers/mckp/relaxation.ts'
import { bestPair } from '../../../../../src/core/solvers/mckp/search.ts'
import { createHistory, ROOT } from '../../../../../src/core/solvers/shared/history.ts'
import { latticeOf, neededFor, roundBound } from '../../../../../src/core/solvers/shared/lattice.ts'
import {
  createStates,
  mergeRuns,
  type States,
} from '../../../../../src/core/solvers/shared/states.ts'
import { toUnits, valueGrid } from '../../../../../src/core/solvers/shared/value-grid.ts'
import { type ClassOf, problemOf } from './oracles.ts'

function statesOf(...pairs: readonly (readonly [left: number, value: number])[]): States {
  const states = createStates(16)
  pairs.forEach(([left, value], s) => {
    states.left[s] = left
    states.value[s] = value
  })
  states.count = pairs.length
  return states
}

function pairsOf({ left, value, count }: States) {
  return Array.from({ length: count }, (_, s) => [left[s], value[s]])
}

describe('the value grid', () => {
  const gridOf = (...values: number[]) =>
    valueGrid(problemOf([{ options: values.map(value => [1, value] as const) }], 9))

  it.each<[number[], { unit: number; exact: boolean }]>([
    [[], { unit: 1, exact: true }],
    [[0, 0], { unit: 1, exact: true }],
    [[3, 5], { unit: 1, exact: true }],
    [[8, 24, 0], { unit: 8, exact: true }],
    [[0.75, 2], { unit: 0.25, exact: true }],
    [[2 ** 60, 2 ** 50], { unit: 2 ** 50, exact: true }],
    [[5e-324, 1e-323], { unit: 5e-324, exact: true }],
    [[2 ** 1023], { unit: 2 ** 1023, exact: true }],
    [[1, 2 ** 60], { unit: 2 ** 10, exact: false }],
    [[1, 5e-324], { unit: 2 ** -50, exact: false }],
  ])('of %j', (values, expected) => {
    expect(gridOf(...values)).toEqual(expected)
  })

  it('rounds up, also what is next to nothing', () => {
    const grid = gridOf(1, 5e-324)
    expect([0, 5e-324, 1].map(value => toUnits(value, grid))).toEqual([0, 1, 2 ** 50])
    expect(toUnits(1 / 3, grid) * grid.unit).toBeGreaterThanOrEqual(1 / 3)
  })
})

describe('the lattice', () => {
  const of = (classes: ClassOf[], budget: number) => {
    const problem = problemOf(classes, budget)
    const reduced = reduce(problem, valueGrid(problem))
    if ('feasible' in reduced) throw new Error('infeasible')
    return latticeOf(reduced, relax(reduced), true)
  }

  it('is the step that values have beside their costs', () => {
    const classes: ClassOf[] = [
      {
        options: [
          [30, 40],
          [51, 71],
        ],
      },
      { options: [[47, 67]] },
    ]
    const lattice = of(classes, 60)
    expect(lattice).toMatchObject({ price: 1, step: 10 })
    // All of the budget used, and a whole number of steps: 60 + 10 k; 20 above the break solution's
    // 67, with 13 left.
    expect(neededFor(0, lattice)).toBe(3)
    expect(neededFor(3, lattice)).toBe(13)
    expect(roundBound(12.5, lattice)).toBe(3)
  })

  it('has one point where values are costs', () => {
    const lattice = of(
      [
        {
          options: [
            [3, 3],
            [5, 5],
          ],
        },
        { options: [[9, 9]] },
      ],
      10,
    )
    expect(lattice).toMatchObject({ price: 1, step: 0 })
    expect(neededFor(lattice.anchor, lattice)).toBe(Infinity)
    expect(neededFor(lattice.anchor - 1, lattice)).toBe(lattice.anchor)
  })

  it('is that of whole units elsewhere', () => {
    expect(
      of(
        [
          {
            options: [
              [3, 7],
              [5, 8],
            ],
          },
          { options: [[9, 4]] },
        ],
        10,
      ),
    ).toMatchObject({ price: 0, step: 1 })
  })
})

describe('states', () => {
  it('are merged by falling budget without dominated ones', () => {
    const runs = statesOf([9, 1], [5, 3], [9, 2], [6, 3], [4, 3], [3, 5])
    const merged = mergeRuns(runs, [2, 5, 6], createStates(16))
    expect(pairsOf(merged)).toEqual([
      [9, 2],
      [6, 3],
      [3, 5],
    ])
  })

  it('are paired to the most valuable pair that fits', () => {
    // The break solution leaves 10; a pair leaves the sum less 10.
    const first = statesOf([10, 0], [4, 7], [-3, 12])
    const second = statesOf([13, -2], [10, 0], [7, 5], [1, 8])
    expect(bestPair(first, second, 10, 0)).toEqual({ first: 1, second: 2, value: 12 })
    expect(bestPair(first, second, 10, 12)).toBeNull()
    expect(bestPair(first, second, 12, 6)).toEqual({ first: 1, second: 1, value: 7 })
  })
})

describe('a heap', () => {
  it('gives the smallest key first, and of equals the smaller number', () => {
    const keys = Float64Array.from({ length: 200 }, (_, i) => (i * 7919) % 31)
    const heap = createHeap(keys)
    const order: number[] = []
    for (let next = heap.peek(); next !== undefined; next = heap.peek()) {
      order.push(next)
      heap.pop()
    }
    const expected = [...keys.keys()].sort((a, b) => keys[a]! - keys[b]! || a - b)
    expect(order).toEqual(expected)
  })
})

describe('a history', () => {
  it('grows, and keeps the ways to living nodes when it is compacted', () => {
    const history = createHistory(1)
    const nodes = Int32Array.from({ length: 50 }, (_, i) => history.add(ROOT, i))
    const children = Array.from(nodes, (node, i) => history.add(node, 100 + i))
    const live = [Int32Array.of(children[7]!, ROOT), Int32Array.of(children[40]!, nodes[41]!)]
    history.compact(live)
    expect(history.size).toBe(6)
    expect(live.map(each => [...each].map(node => history.trace(node)))).toEqual([
      [[107, 7], []],
      [[140, 40], [41]],
    ])
    // What was dropped is overwritten now.
    for (let i = 0; i < 100; i++) history.add(ROOT, i)
    expect(history.trace(history.add(live[0]![0]!, 5))).toEqual([5, 107, 7])
    expect(history.trace(live[1]![0]!)).toEqual([140, 40])
  })
})
