import type { MckpProblem } from '../../../src/core/solvers/mckp/problem.ts'
import type { Random } from '../../../src/lab/bill/statistics.ts'
import { createXorshift } from '../xorshift.ts'

/** One option of a generated class. */
interface Option {
  readonly cost: number
  readonly value: number
}

/**
 * Kinds of instances by the formulas of Pisinger 1995, section 6, with costs from 1 to R; `almost`
 * is from Martello, Pisinger and Toth 1999, where it is the hardest of its kind.
 */
export const KINDS = {
  /** Costs and values at random in [1, R]. */
  uncorrelated: (random, range, count) =>
    many(count, () => ({ cost: 1 + random(range), value: 1 + random(range) })),
  /** Values at random within 10 of the cost, at least 1. */
  'weakly correlated': (random, range, count) =>
    many(count, () => {
      const cost = 1 + random(range)
      return { cost, value: Math.max(1, cost - 10 + random(21)) }
    }),
  /**
   * Running sums over (w, w + 10) with w at random, by rising w: no option is dominated, all are on
   * the hull.
   */
  'strongly correlated': (random, range, count) => {
    const steps = many(count, () => 1 + random(range)).sort((a, b) => a - b)
    let sum = 0
    return steps.map((step, at) => {
      sum += step
      return { cost: sum, value: sum + 10 * (at + 1) }
    })
  },
  /** Values are costs. */
  'subset sum': (random, range, count) =>
    many(count, () => {
      const cost = 1 + random(range)
      return { cost, value: cost }
    }),
  /** Costs and values at random, both sorted (Sinha and Zoltners 1979): no option is dominated. */
  'zig-zag': (random, range, count) => {
    const sorted = () => many(count, () => 1 + random(range)).sort((a, b) => a - b)
    const values = sorted()
    return sorted().map((cost, at) => ({ cost, value: values[at]! }))
  },
  /** Values at random within R/500 of cost + R/10. */
  'almost strongly correlated': (random, range, count) =>
    many(count, () => {
      const cost = 1 + random(range)
      const spread = Math.floor(range / 500)
      return { cost, value: cost + Math.floor(range / 10) - spread + random(2 * spread + 1) }
    }),
} as const satisfies Record<string, (random: Random, range: number, count: number) => Option[]>

export type Kind = keyof typeof KINDS

export interface InstanceSize {
  readonly classes: number
  readonly options: number
  /** The R of the formulas. */
  readonly range: number
  /** Whether every class must pick, as in the paper. */
  readonly required: boolean
  /**
   * Where the budget lies between the least and the most that an instance can cost; 0.5 in the
   * paper.
   */
  readonly share?: number
}

/** The same arguments give the same instance. */
export function makeInstance(kind: Kind, size: InstanceSize, seed: number): MckpProblem {
  // The generator's first numbers say much of its seed.
  const random = createXorshift(Math.imul(seed + 1, 0x9e3779b1))
  many(16, () => random(2))
  const { classes, options, share = 0.5 } = size
  const costs = new Float64Array(classes * options)
  const values = new Float64Array(classes * options)
  let least = 0
  let most = 0
  for (let i = 0; i < classes; i++) {
    const made = KINDS[kind](random, size.range, options)
    made.forEach(({ cost, value }, j) => {
      costs[i * options + j] = cost
      values[i * options + j] = value
    })
    least += size.required ? Math.min(...made.map(({ cost }) => cost)) : 0
    most += Math.max(...made.map(({ cost }) => cost))
  }
  return {
    starts: Uint32Array.from({ length: classes + 1 }, (_, i) => i * options),
    costs,
    values,
    required: new Uint8Array(classes).fill(size.required ? 1 : 0),
    budget: Math.floor(least + share * (most - least)),
  }
}

function many<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make)
}

/** Small instances of all kinds, one after the other, with 1 to 20 classes of 1 to 8 options. */
export function* randomInstances(count: number, seed: number): Generator<MckpProblem> {
  const random = createXorshift(seed)
  const kinds = Object.keys(KINDS) as Kind[]
  for (let i = 0; i < count; i++) {
    const size = {
      classes: 1 + random(20),
      options: 1 + random(8),
      range: [10, 100, 1_000][random(3)]!,
      required: random(2) === 0,
    }
    yield makeInstance(kinds[i % kinds.length]!, size, random(1e6))
  }
}
