import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createChoices, MOST_CHOICES } from '../../../../../src/core/reduce/budget/choices.ts'
import type { KeptPart, PricedNode } from '../../../../../src/core/reduce/budget/priced-node.ts'
import { runs } from '../../../../support/runs.ts'
import { bestAt, smallTree, valueKept, waysOf } from './small-trees.ts'

describe('the choices of a node', () => {
  it('are each the best that its cost can buy, by trying every way', () => {
    fc.assert(
      fc.property(smallTree, fc.constantFrom('keyed', 'row'), (node, form) => {
        // As lines and as a table: a choice is a best one of the form that it is of.
        const { tableOwn, ...lines } = node
        const forms = [waysOf(lines, form)]
        if (tableOwn !== undefined) forms.push(waysOf({ ...lines, own: tableOwn }, form, 'row'))
        for (const { cost, value } of createChoices()(node, form, 1_000)) {
          const best = forms.map(ways => bestAt(ways, cost))
          expect(best.some(each => Math.abs(each - value) < 1e-9)).toBe(true)
        }
      }),
      { numRuns: runs(400) },
    )
  })

  it('end with all that is worth something, and rise in cost and worth', () => {
    fc.assert(
      fc.property(smallTree, node => {
        const choices = createChoices()(node, 'keyed', 1_000)
        const most = bestAt(waysOf(node, 'keyed'), Infinity)
        expect(choices.at(-1)?.value ?? 0).toBeCloseTo(most, 9)
        choices.forEach((choice, i) => {
          const before = choices[i - 1]
          if (before === undefined) return
          expect(choice.cost).toBeGreaterThan(before.cost)
          expect(choice.value).toBeGreaterThan(before.value)
        })
      }),
      { numRuns: runs(200) },
    )
  })

  it('keep what they say they are worth', () => {
    fc.assert(
      fc.property(smallTree, node => {
        for (const choice of createChoices()(node, 'keyed', 1_000)) {
          expect(valueKept(node, choice.kept())).toBeCloseTo(choice.value, 9)
        }
      }),
      { numRuns: runs(200) },
    )
  })

  it('never have what is worth nothing', () => {
    const nothing = { own: 1, key: 0, value: 0 }
    const node = { own: 1, key: 0, value: 0, children: [nothing, { ...nothing, value: 1 }] }
    const choices = createChoices()(node, 'keyed', 16)
    expect(choices.map(choice => choice.kept())).toEqual([
      { kind: 'some', children: [null, { kind: 'all' }] },
    ])
    expect(createChoices()(nothing, 'keyed', 16)).toEqual([])
  })

  it('are few, the cheapest and the dearest among them', () => {
    const children = Array.from({ length: 500 }, (_, i) => ({ own: 3, key: 0, value: 1 - i / 1e4 }))
    const node = { own: 1, key: 0, value: 0, children }
    const all = createChoices()(node, 'keyed', 1_000)
    const few = createChoices()(node, 'keyed', MOST_CHOICES)
    expect(all).toHaveLength(500)
    expect(few.length).toBeLessThanOrEqual(MOST_CHOICES + 1)
    expect(few.length).toBeGreaterThan(MOST_CHOICES / 2)
    expect(few[0]!.cost).toBe(all[0]!.cost)
    expect(few.at(-1)!.cost).toBe(all.at(-1)!.cost)
  })

  it('take no longer for every level, however many choices each has', () => {
    let node: PricedNode = { own: 2_000, key: 0, value: 1, cuts: cutsDownFrom(2_000) }
    for (let i = 0; i < 60; i++) {
      node = { own: 1, key: 1, value: 0, children: [node, { own: 5, key: 1, value: 1 }] }
    }
    const choices = createChoices()(node, 'keyed', 1_000)
    let levels = 0
    for (let kept = firstOf(choices.at(-1)!.kept()); kept !== null; kept = firstOf(kept)) levels++
    expect(levels).toBe(60)
  })
})

function cutsDownFrom(tokens: number) {
  return [16, 8, 4, 2].map(part => ({
    cost: tokens / part,
    value: Math.sqrt(1 / part),
    chars: tokens / part,
  }))
}

function firstOf(kept: KeptPart): KeptPart | null {
  return kept.kind === 'some' ? (kept.children[0] ?? null) : null
}
