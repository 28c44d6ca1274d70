import { describe, expect, it } from 'vitest'
import {
  type Offer,
  Probabilities,
  probabilityState,
} from '../../../../src/core/enrich/probability.ts'

const WEEK_MS = 604_800_000
const offer: Offer = { trigger: 'Grep', target: 'Read', prior: 0.5, rank: 1, listed: 1 }

// Contract, section 8, "Probability of use".
describe('the probability of an offer', () => {
  it.each([
    [1, 0.5],
    [2, 0.45],
    [3, 0.4],
    [4, 0.4],
  ])('is at first what the model states, less at place %i', (rank, expected) => {
    const probabilities = new Probabilities(() => 0)
    for (const listed of [1, 5, 100]) {
      expect(probabilities.of({ ...offer, rank, listed })).toBeCloseTo(expected, 12)
    }
  })

  it('follows what was used: (10·p0·s + used) / (10 + tried)', () => {
    const probabilities = new Probabilities(() => 0)
    for (let i = 0; i < 30; i++) probabilities.observe(offer, i < 24)
    expect(probabilities.of(offer)).toBeCloseTo((5 + 24) / 40, 12)
  })

  it('is of each link, rank and class of length', () => {
    const probabilities = new Probabilities(() => 0)
    const kinds = [
      ...[offer, { ...offer, trigger: 'Glob' }, { ...offer, target: 'Edit' }],
      ...[
        { ...offer, rank: 2 },
        { ...offer, rank: 3 },
      ],
      ...[
        { ...offer, listed: 2 },
        { ...offer, listed: 4 },
        { ...offer, listed: 11 },
      ],
    ]
    kinds.forEach((kind, i) => {
      for (let n = 0; n <= i; n++) probabilities.observe(kind, false)
    })
    const fresh = new Probabilities(() => 0)
    kinds.forEach((kind, i) => {
      expect(probabilities.of(kind)).toBeCloseTo((fresh.of(kind) * 10) / (11 + i), 12)
    })
    const alike = [
      [
        { ...offer, listed: 2 },
        { ...offer, listed: 3 },
      ],
      [
        { ...offer, listed: 4 },
        { ...offer, listed: 10 },
      ],
      [
        { ...offer, rank: 3 },
        { ...offer, rank: 9 },
      ],
    ] as const
    for (const [one, other] of alike) {
      const share = probabilities.of(one) / fresh.of(one)
      expect(probabilities.of(other) / fresh.of(other)).toBeCloseTo(share, 12)
    }
  })

  it('halves the past every week', () => {
    let now = 1_000
    const probabilities = new Probabilities(() => now)
    for (let i = 0; i < 8; i++) probabilities.observe(offer, true)
    now += WEEK_MS - 1
    expect(probabilities.of(offer)).toBeCloseTo(13 / 18, 12)
    now += 1
    expect(probabilities.of(offer)).toBeCloseTo(9 / 14, 12)
    now += 2 * WEEK_MS
    expect(probabilities.of(offer)).toBeCloseTo(6 / 11, 12)
    now += 1_000 * WEEK_MS
    expect(probabilities.of(offer)).toBe(0.5)
    expect(probabilities.save().counts).toEqual([])
  })

  it('does not mind a clock that goes back', () => {
    let now = 10 * WEEK_MS
    const probabilities = new Probabilities(() => now)
    probabilities.observe(offer, true)
    now = 0
    expect(probabilities.of(offer)).toBeCloseTo(6 / 11, 12)
  })

  it('is kept in a file', () => {
    let now = 5
    const before = new Probabilities(() => now)
    for (let i = 0; i < 4; i++) before.observe(offer, i < 3)
    const saved = probabilityState.parse(JSON.parse(JSON.stringify(before.save())))
    now += WEEK_MS
    const after = new Probabilities(() => now, saved)
    expect(after.of(offer)).toBeCloseTo((5 + 1.5) / 12, 12)
    expect(after.of(offer)).toBe(before.of(offer))
  })

  it('forgets the oldest kinds of too many', () => {
    const probabilities = new Probabilities(() => 0)
    for (let i = 0; i < 10_001; i++) probabilities.observe({ ...offer, target: `t${i}` }, true)
    expect(probabilities.of({ ...offer, target: 't0' })).toBe(0.5)
    expect(probabilities.of({ ...offer, target: 't1' })).toBeGreaterThan(0.5)
    expect(probabilities.save().counts.length).toBe(10_000)
  })
})
