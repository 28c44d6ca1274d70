import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createChoices } from '../../../../../src/core/reduce/budget/choices.ts'
import { openWithin, totalsOf } from '../../../../../src/core/reduce/budget/opening.ts'
import { classesOf, createPlanner, totalValue } from '../../../../../src/core/reduce/budget/plan.ts'
import type { PricedNode } from '../../../../../src/core/reduce/budget/priced-node.ts'
import { runs } from '../../../../support/runs.ts'
import { smallTree, valueKept } from './small-trees.ts'

const document = smallTree.filter(({ children }) => children !== undefined)

/** The most that any pick of choices is worth, by trying all of them. */
function bestPick(root: PricedNode, budget: number): number {
  const opening = openWithin(root, budget, totalsOf(root))
  let sums = [{ cost: 0, value: 0 }]
  for (const { choices, extra } of classesOf(root, opening, createChoices())) {
    sums = sums.flatMap(sum => [
      sum,
      ...choices.map(({ cost, value }) => ({
        cost: sum.cost + Math.ceil(cost + extra),
        value: sum.value + value,
      })),
    ])
  }
  const room = Math.max(0, Math.floor(budget - opening.frames))
  return sums.reduce((best, { cost, value }) => (cost <= room ? Math.max(best, value) : best), 0)
}

describe('a plan', () => {
  it('is the best over its classes and their choices, and says so', () => {
    fc.assert(
      fc.property(document, fc.double({ min: 0, max: 1, noNaN: true }), (root, share) => {
        const planner = createPlanner(root)
        const budget = Math.floor(planner.most * share)
        const plan = planner.plan(budget)
        expect(plan.value).toBeCloseTo(bestPick(root, budget), 9)
        expect(plan.optimal).toBe(true)
        expect(plan.upperBound).toBeGreaterThanOrEqual(plan.value)
        expect(plan.wholeValue).toBeCloseTo(totalValue(root), 9)
        expect(valueKept(root, plan.kept)).toBeCloseTo(plan.value, 9)
      }),
      { numRuns: runs(300) },
    )
  })

  it('keeps all where all fits, and costs no more than the budget where not', () => {
    const children = [1, 2, 3].map(value => ({ own: 10, key: 1, value }))
    const root = { own: 2, key: 0, value: 0, children }
    const planner = createPlanner(root)
    expect(planner.most).toBe(37)
    expect(planner.plan(38)).toMatchObject({ kept: { kind: 'all' }, value: 6, cost: 38 })
    expect(planner.plan(37)).toMatchObject({ value: 5, cost: 26 })
    expect(planner.plan(0)).toMatchObject({ value: 0, kept: { children: [null, null, null] } })
  })

  it('opens no container for nothing: its brackets would say that it was empty', () => {
    const inner = { own: 1, key: 1, value: 0, children: [{ own: 90, key: 1, value: 1 }] }
    const root = { own: 1, key: 0, value: 0, children: [inner, { own: 8, key: 1, value: 1 }] }
    expect(createPlanner(root).plan(20).kept).toEqual({
      kind: 'some',
      children: [null, { kind: 'all' }],
    })
  })

  it('keeps what is required, whatever it costs', () => {
    const children = [
      { own: 900, key: 0, value: 0, required: true as const },
      { own: 10, key: 0, value: 1 },
    ]
    const { kept } = createPlanner({ own: 0, key: 0, value: 0, children }).plan(20)
    expect(kept).toEqual({ kind: 'some', children: [{ kind: 'all' }, { kind: 'all' }] })
  })

  it('decides on runs where there are very many parts, and keeps the best of each', () => {
    const children = Array.from({ length: 100_000 }, (_, i) => ({
      own: 4,
      key: 0,
      value: i % 50 === 0 ? 10 : 1,
    }))
    const planner = createPlanner({ own: 1, key: 0, value: 0, children })
    const plan = planner.plan(20_000)
    expect(plan.classes).toBeLessThan(3_000)
    expect(plan.cost).toBeLessThanOrEqual(20_000)
    // 2,000 parts are worth ten times the others; what is left of the budget buys 2,000 more.
    expect(plan.value).toBeGreaterThan(0.95 * 22_000)
    expect(valueKept({ own: 1, key: 0, value: 0, children }, plan.kept)).toBeCloseTo(plan.value, 6)
  })
})
