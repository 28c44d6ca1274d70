import { describe, expect, it } from 'vitest'
import { align, type Bounds, type Sequences } from '../../../../src/core/verify/missing-values.ts'

/** Letters that are left of a word; a missing letter counts as much as `weights` says, else 1. */
function letters(whole: string, left: string, weights: Record<string, number> = {}): Sequences {
  return {
    whole: whole.length,
    left: left.length,
    pair: (i, j) => {
      expect(i).toBeLessThan(whole.length)
      expect(j).toBeLessThan(left.length)
      return whole[i] === left[j] ? { least: 0, most: 0 } : null
    },
    gap: i => {
      expect(i).toBeLessThan(whole.length)
      return weights[whole[i]!] ?? 1
    },
  }
}

/** The same by trying every way. */
function tryAll({ whole, left, pair, gap }: Sequences): Bounds | null {
  const found: Bounds[] = []
  function go(i: number, j: number, sum: Bounds): void {
    if (i === whole) {
      if (j === left) found.push(sum)
      return
    }
    const gone = gap(i)
    go(i + 1, j, { least: sum.least + gone, most: sum.most + gone })
    const inside = j < left ? pair(i, j) : null
    if (inside === null) return
    go(i + 1, j + 1, { least: sum.least + inside.least, most: sum.most + inside.most })
  }
  go(0, 0, { least: 0, most: 0 })
  if (found.length === 0) return null
  return {
    least: Math.min(...found.map(({ least }) => least)),
    most: Math.max(...found.map(({ most }) => most)),
  }
}

/** All words of these letters, up to a length. */
function words(alphabet: string, most: number): string[] {
  let last = ['']
  const all = ['']
  for (let length = 1; length <= most; length++) {
    last = last.flatMap(word => [...alphabet].map(letter => word + letter))
    all.push(...last)
  }
  return all
}

describe('what is missing', () => {
  it.each([
    ['nothing of nothing', '', '', 0, 0],
    ['nothing', 'abc', 'abc', 0, 0],
    ['everything', 'abc', '', 3, 3],
    ['the first', 'abc', 'bc', 1, 1],
    ['the last', 'abc', 'ab', 1, 1],
    ['a run', 'abcde', 'ae', 3, 3],
    ['one of two that are alike', 'abab', 'ab', 2, 2],
  ])('is %s', (_, whole, left, least, most) => {
    expect(align(letters(whole, left))).toEqual({ least, most })
  })

  it.each([
    ['a letter of its own', 'abc', 'abd'],
    ['another order', 'abc', 'ba'],
    ['more than there was', 'abc', 'abcc'],
    ['a letter twice', 'abc', 'aab'],
  ])('is not known with %s', (_, whole, left) => {
    expect(align(letters(whole, left))).toBeNull()
  })

  it('is between the lightest and the heaviest way', () => {
    expect(align(letters('xayaz', 'a', { x: 1, a: 0, y: 10, z: 100 }))).toEqual({
      least: 111,
      most: 111,
    })
    // The first or the second `a` may be gone, and what is in it with it.
    const inside = [7, 2]
    const either: Sequences = {
      whole: 2,
      left: 1,
      pair: i => ({ least: inside[i]!, most: inside[i]! + 1 }),
      gap: i => i + 1,
    }
    expect(align(either)).toEqual({ least: 3, most: 10 })
  })

  it('is what trying every way finds', () => {
    const alphabet = words('ab', 6)
    for (const whole of alphabet) {
      for (const left of words('ab', 3)) {
        const sequences: Sequences = {
          ...letters(whole, left),
          pair: (i, j) =>
            whole[i] === left[j] ? { least: (i * 5) % 3, most: ((i * 5) % 3) + (j % 2) } : null,
          gap: i => (i * 7) % 4,
        }
        expect([whole, left, align(sequences)]).toEqual([whole, left, tryAll(sequences)])
      }
    }
  })
})

describe('more ways than are looked at', () => {
  const same = (whole: number, left: number): Sequences => ({
    whole,
    left,
    pair: () => ({ least: 0, most: 0 }),
    gap: () => 1,
  })

  it('leave open how much is missing, so that no true claim is called a lie', () => {
    expect(align(same(2_000, 1_001))).toEqual({ least: 0, most: Number.POSITIVE_INFINITY })
  })

  it('still find what is no part', () => {
    const none: Sequences = {
      ...same(2_000, 1_001),
      pair: (_, j) => (j === 1_000 ? null : { least: 0, most: 0 }),
    }
    expect(align(none)).toBeNull()
  })

  it('are never reached where each can be only one', () => {
    const order: Sequences = {
      ...same(3_000, 1_500),
      pair: (i, j) => (i === 2 * j ? { least: 0, most: 0 } : null),
    }
    expect(align(order)).toEqual({ least: 1_500, most: 1_500 })
  })
})
