import { describe, expect, it } from 'vitest'
import type { TrimTree } from '../../../../../../src/core/solvers/tree/tree.ts'
import { type TrimAlgorithm, trimTree } from '../../../../../../src/core/solvers/tree/trim-tree.ts'
import { FULL_RUNS } from '../../../../../support/runs.ts'
import { someOf } from '../../../../../support/short-runs.ts'
import { FAMILIES, type Family, makeTree } from '../../../../../support/trim/families.ts'
import { naiveValue } from '../../../../../support/trim/naive.ts'
import { chosen, faultsOf, type NodeOf, nodesOf, treeOf } from './oracles.ts'

const ALGORITHMS = ['auto', 'exact', 'greedy', 'fair', 'head_tail'] as const
const LARGEST = 2 ** 31 - 1
const families = Object.keys(FAMILIES) as Family[]
/** Nodes of the largest trees; a short run shows the same with fewer. */
const MANY = FULL_RUNS ? 100_000 : 5_000
const FULL_SIZE = FULL_RUNS ? 3_000 : 500

/** Cases that every algorithm solves alike. */
const PLAIN: [string, NodeOf[], number, number[]][] = [
  ['a single node', [[-1, 3, 1]], 3, [0]],
  ['a single node that is free and worth nothing', [[-1, 0, 0]], 0, [0]],
  [
    'a budget of nothing',
    [
      [-1, 0, 0],
      [0, 1, 9],
      [0, 0, 0],
      [1, 0, 9],
      [2, 0, 1],
    ],
    0,
    [0, 2, 4],
  ],
  [
    'costs of nothing',
    [
      [-1, 0, 1],
      [0, 0, 2],
      [1, 0, 0],
      [2, 0, 3],
    ],
    0,
    [0, 1, 2, 3],
  ],
  [
    'a tree that fits',
    [
      [-1, 1, 1],
      [0, 2, 3],
      [1, 3, 1],
      [0, 4, 1],
    ],
    10,
    [0, 1, 2, 3],
  ],
  [
    'what is worth nothing',
    [
      [-1, 1, 0],
      [0, 1, 0],
      [0, 1, 0],
      [2, 1, 1],
      [3, 1, 0],
    ],
    9,
    [0, 2, 3],
  ],
  [
    'what is required, with all above it',
    [
      [-1, 1, 0],
      [0, 2, 0],
      [1, 3, 0, 'required'],
      [0, 1, 99],
    ],
    6,
    [0, 1, 2],
  ],
  [
    'costs that are huge',
    [
      [-1, LARGEST, 1],
      [0, LARGEST, 2],
      [1, LARGEST, 3],
      [0, LARGEST, 1],
    ],
    4 * LARGEST,
    [0, 1, 2, 3],
  ],
]

/** One tree for each budget, the same for every algorithm. */
const mediumTree = (family: Family, budget: number) => makeTree(family, 400, budget)

const best = new Map<string, number>()

/** The value of the plain dynamic program, which is slow. */
function bestOf(family: Family, budget: number): number {
  const key = `${family} ${budget}`
  const value = best.get(key) ?? naiveValue(mediumTree(family, budget), budget)
  best.set(key, value)
  return value
}

describe.each(ALGORITHMS)('%s', algorithm => {
  it.each(PLAIN)('%s', (_, nodes, budget, expected) => {
    const tree = treeOf(nodes)
    const choice = chosen(tree, budget, { algorithm })
    expect([nodesOf(choice), faultsOf(tree, budget, choice)]).toEqual([expected, []])
    expect([choice.optimal, choice.gap]).toEqual([true, 0])
  })

  it('says what it needs where the required does not fit', () => {
    const tree = treeOf([
      [-1, 1, 0],
      [0, 2, 0],
      [1, 3, 0, 'required'],
      [0, 1, 99],
    ])
    expect(trimTree(tree, 5, { algorithm })).toEqual({ minimum: 6 })
  })

  it.each([
    ['chain', (i: number) => i - 1],
    ['star', () => 0],
  ])(`takes a %s of ${MANY} nodes`, (_, parentOf) => {
    const tree = uniform(MANY, parentOf)
    const budget = 0.08 * MANY
    const choice = chosen(tree, budget, { algorithm })
    expect(faultsOf(tree, budget, choice)).toEqual([])
    expect([choice.optimal, choice.value]).toEqual([true, budget])
  })

  it('gives the same choice again, and leaves its arguments alone', () => {
    for (const family of someOf(families, 2)) {
      const tree = makeTree(family, 500, 3)
      const before = structuredClone(tree)
      const first = trimTree(tree, 700, { algorithm, maxWork: 20_000 })
      expect(trimTree(tree, 700, { algorithm, maxWork: 20_000 })).toEqual(first)
      expect(tree).toEqual(before)
    }
  })

  it.each(someOf(families, 3))('is sound on %s', family => {
    for (const budget of [0, 1, 40, 333, 1_500]) {
      const tree = mediumTree(family, budget)
      const choice = chosen(tree, budget, { algorithm })
      const best = bestOf(family, budget)
      expect(faultsOf(tree, budget, choice)).toEqual([])
      expect(choice.upperBound).toBeGreaterThanOrEqual(best * (1 - 1e-12))
      expect(choice.value).toBeLessThanOrEqual(best * (1 + 1e-12))
      if (choice.optimal) expect(choice.value).toBeCloseTo(best, 6)
    }
  })
})

describe.each(families)('%s at full size', family => {
  it('a trim at full size is solved exactly', () => {
    const budget = Math.floor((FULL_SIZE * 4) / 3)
    const tree = makeTree(family, FULL_SIZE, 1)
    const choice = chosen(tree, budget)
    expect([choice.optimal, choice.algorithm, faultsOf(tree, budget, choice)]).toEqual([
      true,
      'exact',
      [],
    ])
    expect(choice.value).toBeCloseTo(naiveValue(tree, budget), 6)
  })
})

describe('a limit of work', () => {
  const tree = makeTree('narrow', 1_500, 5)
  const best = naiveValue(tree, 2_000)

  it('is kept, and leaves a bound that holds', () => {
    for (const maxWork of [0, 1, 1_000, 10_000, 30_000]) {
      const choice = chosen(tree, 2_000, { maxWork })
      expect(faultsOf(tree, 2_000, choice)).toEqual([])
      expect([choice.optimal, choice.work <= maxWork]).toEqual([false, true])
      expect(choice.upperBound).toBeGreaterThan(best)
      expect(choice.value).toBeLessThanOrEqual(best * (1 + 1e-12))
    }
  })

  it('of more gives no worse value and no higher bound', () => {
    const choices = [0, 1e3, 1e4, 1e5, 1e6, 1e7].map(maxWork =>
      chosen(tree, 2_000, { algorithm: 'exact', maxWork }),
    )
    const values = choices.map(({ value }) => value)
    const bounds = choices.map(({ upperBound }) => upperBound)
    expect(values).toEqual([...values].sort((a, b) => a - b))
    expect(bounds).toEqual([...bounds].sort((a, b) => b - a))
    expect(choices.at(-1)!.value).toBeCloseTo(best, 6)
    expect(choices.at(-1)!.optimal).toBe(true)
  })

  it('leaves the best of all algorithms', () => {
    const limited = chosen(tree, 2_000, { maxWork: 0 })
    for (const algorithm of ['exact', 'greedy', 'fair', 'head_tail'] as const) {
      const { value } = chosen(tree, 2_000, { algorithm, maxWork: 0 })
      expect(limited.value).toBeGreaterThanOrEqual(value)
    }
  })
})

describe('greedy', () => {
  it.each<[string, NodeOf[], number, number[]]>([
    [
      'takes what is dense together with what it hangs on',
      [
        [-1, 0, 0],
        [0, 5, 0],
        [1, 5, 100],
        [0, 5, 20],
      ],
      10,
      [0, 1, 2],
    ],
    [
      'takes a single path that is worth more than all that is denser',
      [
        [-1, 0, 0],
        [0, 1, 2],
        [0, 50, 5],
        [2, 50, 94],
      ],
      100,
      [0, 2, 3],
    ],
    [
      'takes a part of what does not fit as a whole',
      [
        [-1, 0, 0],
        [0, 4, 1],
        [1, 9, 9],
        [0, 4, 2],
      ],
      9,
      [0, 1, 3],
    ],
    [
      'takes whole blocks after one that does not fit, before a part of that',
      [
        [-1, 0, 0],
        [0, 5, 17],
        [0, 4, 1],
        [2, 9, 25],
        [0, 6, 11],
      ],
      14,
      [0, 1, 4],
    ],
  ])('%s', (_, nodes, budget, expected) => {
    expect(nodesOf(chosen(treeOf(nodes), budget, { algorithm: 'greedy' }))).toEqual(expected)
  })
})

describe('fair', () => {
  const keeps = (nodes: NodeOf[], budget: number) =>
    nodesOf(chosen(treeOf(nodes), budget, { algorithm: 'fair' }))

  it('divides the budget by worth, at every level', () => {
    // Two threads of equal worth, one of many parts, the other of few.
    const many = Array.from({ length: 8 }, (): NodeOf => [1, 10, 10])
    const few = Array.from({ length: 2 }, (): NodeOf => [2, 10, 40])
    const kept = keeps([[-1, 0, 0], [0, 0, 0], [0, 0, 0], ...many, ...few], 40)
    expect(kept).toEqual([0, 1, 2, 3, 4, 11, 12])
  })

  it('hands on what one gets and cannot use', () => {
    const kept = keeps(
      [
        [-1, 0, 0],
        [0, 1, 0],
        [1, 15, 50],
        [0, 0, 0],
        [3, 18, 50],
      ],
      20,
    )
    expect(kept).toEqual([0, 3, 4])
  })

  it('hands on what one does not use', () => {
    const kept = keeps(
      [
        [-1, 0, 0],
        [0, 1, 50],
        [0, 10, 25],
        [0, 9, 25],
      ],
      20,
    )
    expect(kept).toEqual([0, 1, 2, 3])
  })
})

describe('head_tail', () => {
  const items = (costs: number[]): NodeOf[] => [
    [-1, 0, 0],
    ...costs.map((cost): NodeOf => [0, cost, 1]),
  ]
  const keeps = (nodes: NodeOf[], budget: number) =>
    nodesOf(chosen(treeOf(nodes), budget, { algorithm: 'head_tail' }))

  it('keeps three of the first and seven of the last', () => {
    const kept = keeps(items(Array(20).fill(10)), 100)
    expect(kept).toEqual([0, 1, 2, 3, 14, 15, 16, 17, 18, 19, 20])
  })

  it('gives the tail what the head leaves, and the head what the tail leaves', () => {
    expect(keeps(items([40, 10, 10, 10, 10]), 40)).toEqual([0, 2, 3, 4, 5])
    expect(keeps(items([10, 10, 10, 10, 99]), 40)).toEqual([0, 1, 2, 3, 4])
  })

  it('keeps the top of the child at which the budget ends', () => {
    expect(keeps([...items([2, 4]), [1, 50, 9], [1, 3, 1], [2, 50, 1]], 6)).toEqual([0, 1, 4])
  })
})

describe('numbers that are none of ours', () => {
  const good: TrimTree = treeOf([
    [-1, 1, 1],
    [0, 1, 1],
  ])
  it.each<[string, Partial<TrimTree>]>([
    ['no nodes', treeOf([])],
    ['a value that is no number', { value: Float64Array.of(1, NaN) }],
    ['a negative value', { value: Float64Array.of(1, -1) }],
    ['an infinite value', { value: Float64Array.of(1, Infinity) }],
    ['an infinite sum of values', { value: Float64Array.of(1.7e308, 1.7e308) }],
    ['a negative cost', { cost: Int32Array.of(1, -1) }],
    ['a second root', { parent: Int32Array.of(-1, -1) }],
    ['no root', { parent: Int32Array.of(0, 0) }],
    ['a parent that comes later', { parent: Int32Array.of(-1, 1) }],
    ['arrays of other lengths', { cost: Int32Array.of(1) }],
    ['flags of another length', { required: Uint8Array.of(1) }],
  ])('%s', (_, change) => {
    expect(() => trimTree({ ...good, ...change }, 5)).toThrow(RangeError)
  })

  it.each([[NaN], [-1], [0.5], [Infinity], [2 ** 53]])('budget %s', budget => {
    expect(() => trimTree(good, budget)).toThrow(RangeError)
  })

  it.each<[TrimAlgorithm | 'auto']>(ALGORITHMS.map(each => [each]))('with %s too', algorithm => {
    expect(() => trimTree(good, NaN, { algorithm })).toThrow(RangeError)
  })
})

/** All costs and values 1, but for the root, which is free. */
function uniform(size: number, parentOf: (node: number) => number): TrimTree {
  const cost = new Int32Array(size).fill(1)
  const value = new Float64Array(size).fill(1)
  cost[0] = 0
  value[0] = 0
  return {
    parent: Int32Array.from({ length: size }, (_, i) => (i === 0 ? -1 : parentOf(i))),
    cost,
    value,
  }
}
