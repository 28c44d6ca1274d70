import { describe, expect, it } from 'vitest'
import type { MarkerBill } from '../../../../src/lab/guard/plays.ts'
import { chooseLimit, passes } from '../../../../src/lab/rules/elision-limit.ts'

/** Markers of ten conversations, 60 of them. */
function markersOf(one: (at: number) => Partial<MarkerBill>): readonly MarkerBill[] {
  return Array.from({ length: 60 }, (_, at) => ({
    ...{ class: 'Read', conversation: `c${at % 10}`, saved: 100, left: 100 },
    ...{ value: 0, fetching: 0, isNeeded: false },
    ...one(at),
  }))
}

describe('chooseLimit', () => {
  it('leaves a class alone if its markers pay', () => {
    expect(chooseLimit(markersOf(() => ({ value: 5, fetching: 1 })))).toEqual({ kind: 'all' })
  })

  it('switches a class off if its markers cost, whatever they save', () => {
    const markers = markersOf(at => ({ saved: 100 + at, left: 400 - at, value: 1, fetching: 5 }))
    expect(chooseLimit(markers)).toEqual({ kind: 'none' })
  })

  it('bounds what markers save if those that save little cost', () => {
    const markers = markersOf(at => {
      const isLarge = at % 2 === 0
      return { saved: isLarge ? 1_000 : 50, left: isLarge ? 1_000 : 50, value: isLarge ? 9 : -9 }
    })
    expect(chooseLimit(markers)).toEqual({ kind: 'saved', bound: -1_000 })
  })

  it('bounds what markers leave if those that leave much cost', () => {
    const markers = markersOf(at => {
      const leavesLittle = at % 2 === 0
      return { saved: 100, left: leavesLittle ? 50 : 300, value: leavesLittle ? 9 : -9 }
    })
    const limit = chooseLimit(markers)
    expect(limit).toEqual({ kind: 'ratio', bound: 0.334 })
    expect(passes(limit, { saved: 100, left: 50 })).toBe(true)
    expect(passes(limit, { saved: 100, left: 51 })).toBe(false)
  })

  it('takes no bound that the luck of one conversation makes', () => {
    const markers = markersOf(at => {
      const isLucky = at < 24
      return {
        ...(isLucky ? { conversation: 'lucky' } : {}),
        ...{ saved: isLucky ? 1_000 : 100, left: 1_000, value: isLucky ? 10 : -20 },
      }
    })
    expect(chooseLimit(markers)).toEqual({ kind: 'none' })
  })

  it('takes no bound that fewer than 20 markers pass', () => {
    const markers = markersOf(at => ({ saved: at < 19 ? 1_000 : 10, value: at < 19 ? 50 : -60 }))
    expect(chooseLimit(markers)).toEqual({ kind: 'none' })
  })
})
