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

const some = fc.array(item(20), { maxLength: 8 })

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
    const taken = [{ options }, ...dependents].flatMap(({ options }, j) => {
      return pick[j] === undefined || pick[j] === -1 ? [] : [options[pick[j]]]
    })
    if (pick[0] === -1 && taken.length > 0) throw new Error('a call without what it requires')
    for (const each of taken) {
      cost += (each as Priced).cost_tokens
      value += (each as Priced).value
    }
  })
  return { cost, value }
}

// SOURCES.md#planner, "Knapsack algorithm"; contract, section 8, "Plan".
describe('the choice of calls', () => {
  it('has at least half of the value of the best, and a bound above it', () => {
    let [worse, runs] = [0, 0]
    fc.assert(
      fc.property(some, fc.nat(120), (items, budget) => {
        const choice = chooseCalls(items, budget)
        const { cost, value } = sumsOf(items, choice)
        const best = optimum(items, budget)
        expect([choice.cost_tokens, choice.value]).toEqual([cost, value])
        expect(cost).toBeLessThanOrEqual(budget)
        expect(2 * value).toBeGreaterThanOrEqual(best)
        expect(choice.bound).toBeGreaterThanOrEqual(best - 1e-9)
        runs++
        if (value < best) worse++
      }),
      { numRuns: fewRuns(10_000, 200) },
    )
    // It is not the best one always, nor seldom.
    expect(worse).toBeGreaterThan(0)
    expect(worse).toBeLessThan(runs / 2)
  })

  it('is the best there is if all calls have room', () => {
    fc.assert(
      fc.property(some, items => {
        const { value, bound } = chooseCalls(items, 10_000)
        expect([value, bound]).toEqual([optimum(items, 10_000), value])
      }),
      { numRuns: fewRuns(1_000, 20) },
    )
  })

  it('needs the best single call for that', () => {
    const small = { options: [{ cost_tokens: 1, value: 2 }], dependents: [] }
    const large = { options: [{ cost_tokens: 100, value: 100 }], dependents: [] }
    const { value, picks } = chooseCalls([small, large], 100)
    expect([value, picks]).toEqual([100, [[], [0]]])
  })
})
