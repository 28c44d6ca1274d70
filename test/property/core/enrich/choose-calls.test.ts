import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ChoiceItem, chooseCalls } from '../../../../src/core/enrich/choose-calls.ts'
import { fewRuns } from '../../../support/short-runs.ts'

type Priced = ChoiceItem['options'][number]

/** Eighths, so that sums are exact. */
const priced = (largest: number): fc.Arbitrary<Priced> =>
  fc.oneof(
    fc.record({ cost_tokens: fc.integer({ min: 1, max: largest }), value: eighths(80) }),
    fc.integer({ min: 1, max: largest }).map(cost => ({ cost_tokens: cost, value: cost / 8 })),
  )
const eighths = (most: number) => fc.nat(most).map(n => n / 8)

/** A call's options: each costs more and is worth more than the one before. */
const options = (largest: number) =>
  fc.array(priced(largest), { minLength: 1, maxLength: 3 }).map(parts => {
    let [cost_tokens, value] = [0, 0]
    return parts.map(part => {
      cost_tokens += part.cost_tokens
      value += part.value
      return { cost_tokens, value }
    })
  })

const item = (largest: number): fc.Arbitrary<ChoiceItem> =>
  fc.record({
    options: options(largest),
    dependents: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      fc.array(fc.record({ options: options(largest) }), { minLength: 1, maxLength: 3 }),
    ),
  })

const few = fc.array(item(20), { maxLength: 6 })
/** Few that matter among many that are alike, so that more than 256 are chosen by density. */
const many = fc
  .tuple(
    fc.array(item(40), { minLength: 1, maxLength: 6 }),
    priced(40),
    fc.integer({ min: 256, max: 258 }),
  )
  .map(([special, filler, count]) => [
    ...special,
    ...Array.from({ length: count }, (_, i) => ({
      options: [{ ...filler, value: filler.value / (1 + (i % 7)) }],
      dependents: [],
    })),
  ])

/** All that an item's combinations cost and are worth; nothing is one of them. */
function waysOf({ options, dependents }: ChoiceItem): readonly Priced[] {
  const none = { cost_tokens: 0, value: 0 }
  const combined = dependents.reduce<readonly Priced[]>(
    (ways, { options: own }) =>
      ways.flatMap(way =>
        [none, ...own].map(({ cost_tokens, value }) => ({
          cost_tokens: way.cost_tokens + cost_tokens,
          value: way.value + value,
        })),
      ),
    options,
  )
  return [none, ...combined]
}

/** The highest value, by a table over all budgets (Bellman). */
function optimum(items: readonly ChoiceItem[], budget: number): number {
  let table = new Float64Array(budget + 1)
  for (const each of items) {
    const next = table.slice()
    for (const { cost_tokens, value } of waysOf(each)) {
      for (let used = cost_tokens; used <= budget; used++) {
        next[used] = Math.max(next[used]!, table[used - cost_tokens]! + value)
      }
    }
    table = next
  }
  return table[budget]!
}

/** Cost and value of a choice by its picks; fails for picks that are none. */
function sumsOf(items: readonly ChoiceItem[], { picks }: ReturnType<typeof chooseCalls>) {
  let [cost, value] = [0, 0]
  items.forEach(({ options, dependents }, i) => {
    const pick = picks[i]!
    const taken = [
      ...(pick.option === -1 ? [] : [options[pick.option]]),
      ...pick.dependents.flatMap((option, j) =>
        option === -1 ? [] : [dependents[j]?.options[option]],
      ),
    ]
    if (pick.option === -1 && taken.length > 0) throw new Error('a call without what it requires')
    for (const each of taken) {
      cost += (each as Priced).cost_tokens
      value += (each as Priced).value
    }
  })
  return { cost, value }
}

// SOURCES.md#planner, "Knapsack algorithm"; contract, section 8, "Plan".
describe('the choice of calls', () => {
  it('of up to 256 is the best there is', () => {
    fc.assert(
      fc.property(few, fc.nat(120), (items, budget) => {
        const choice = chooseCalls(items, budget)
        const { cost, value } = sumsOf(items, choice)
        expect([choice.cost_tokens, choice.value]).toEqual([cost, value])
        expect(cost).toBeLessThanOrEqual(budget)
        expect([choice.isExact, value]).toEqual([true, optimum(items, budget)])
        expect(choice.bound).toBeCloseTo(value, 9)
      }),
      { numRuns: fewRuns(10_000, 200) },
    )
  })

  it('of more has at least half of the value of the best, and a bound above it', () => {
    let greedy = 0
    fc.assert(
      fc.property(many, fc.nat(60), (items, budget) => {
        const choice = chooseCalls(items, budget)
        const { cost, value } = sumsOf(items, choice)
        const best = optimum(items, budget)
        expect(choice.value).toBeCloseTo(value, 9)
        expect(cost).toBeLessThanOrEqual(budget)
        expect(2 * value).toBeGreaterThanOrEqual(best - 1e-9)
        expect(choice.bound).toBeGreaterThanOrEqual(best - 1e-9)
        if (!choice.isExact) greedy++
      }),
      { numRuns: fewRuns(10_000, 200) },
    )
    expect(greedy).toBeGreaterThan(10)
  })

  it('needs the best single call for that', () => {
    const small = { options: [{ cost_tokens: 1, value: 2 }], dependents: [] }
    const large = { options: [{ cost_tokens: 100, value: 100 }], dependents: [] }
    const filler = Array.from({ length: 256 }, () => ({
      options: [{ cost_tokens: 101, value: 1 }],
      dependents: [],
    }))
    const { value, picks } = chooseCalls([small, large, ...filler], 100)
    expect([value, picks[0]?.option, picks[1]?.option]).toEqual([100, -1, 0])
  })
})
