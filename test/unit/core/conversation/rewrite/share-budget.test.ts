import { describe, expect, it } from 'vitest'
import {
  cutToFit,
  fairLevel,
} from '../../../../../src/core/conversation/rewrite/compress-messages.ts'

describe('fairLevel', () => {
  it.each<[readonly number[], number, number]>([
    [[], 0, Infinity],
    [[10, 20], 30, Infinity],
    [[10, 20], 29, 19],
    [[10, 20, 30], 40, 15],
    [[30, 10, 20], 40, 15],
    [[5, 5, 5], 7, 2],
    [[5, 5], 0, 0],
    [[5, 5], -100, 0],
  ])('of %j in %d tokens is %d', (sizes, room, level) => {
    expect(fairLevel(sizes, room)).toBe(level)
  })
})

describe('cutToFit', () => {
  /** What each text is cut to, where it can be cut to exactly that, or to no less than `least`. */
  function cuts(sizes: readonly number[], room: number, least = 0) {
    const after = [...sizes]
    cutToFit(sizes, room, (index, tokens) => {
      after[index] = Math.max(least, tokens)
      return after[index] as number
    })
    return after
  }

  it('leaves texts alone that fit, and small ones always', () => {
    expect(cuts([10, 20], 30)).toEqual([10, 20])
    expect(cuts([4, 100, 5, 100], 49)).toEqual([4, 20, 5, 20])
  })

  it('gives what is left over to the last', () => {
    expect(cuts([100, 100, 100], 100)).toEqual([33, 33, 33 + 1].toSorted((a, b) => b - a))
    const halves: number[] = []
    cutToFit([100, 100, 100], 90, (_, tokens) => {
      halves.push(tokens)
      return tokens / 2
    })
    expect(halves).toEqual([30, 45, 52.5])
  })

  it('takes back from later ones what an earlier one takes too much', () => {
    expect(cuts([100, 100], 60, 40)).toEqual([40, 40])
    const asked: number[] = []
    cutToFit([100, 100], 60, (_, tokens) => {
      asked.push(tokens)
      return 40
    })
    expect(asked).toEqual([30, 20])
  })

  it('leaves the last whole where the others made room', () => {
    const asked: number[] = []
    cutToFit([100, 40], 60, (index, tokens) => {
      asked.push(index)
      return tokens - 15
    })
    expect(asked).toEqual([0])
  })
})
