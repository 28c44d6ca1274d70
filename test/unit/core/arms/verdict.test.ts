import { describe, expect, test } from 'vitest'
import { testUnits } from '../../../../src/core/arms/randomisation-test.ts'
import {
  type ArmSums,
  addSums,
  arrival,
  followUp,
  NO_SUMS,
  type ResultArm,
} from '../../../../src/core/arms/sums.ts'
import { sequenceFactor, verdictOf } from '../../../../src/core/arms/verdict.ts'
import { createXorshift } from '../../../support/xorshift.ts'

const SHARE = 0.1
const DIRECT = [200, 500, 2_000]

/** Sums of an arm: every `each`-th result is fetched back, at a price for a token. */
function sumsOf(isWhole: boolean, count: number, each: number, price: number): ArmSums {
  let sums: ArmSums = NO_SUMS
  for (let n = 0; n < count; n++) {
    const direct = DIRECT[n % DIRECT.length]!
    const arm: ResultArm = { class: 'Read', isWhole, direct, share: SHARE }
    const back = { kind: 'retrieval', before: 0, isFirst: true, takesTurn: true } as const
    sums = addSums(sums, arrival(arm)!.sums)
    if (n % each === 0) {
      sums = addSums(sums, followUp(arm, { ...back, cost: price * direct })!.sums)
    }
  }
  return sums
}

describe('what elision saves', () => {
  test('is what was left out, without what came back more often than to whole results', () => {
    const elided = sumsOf(false, 1_800, 4, 1)
    const whole = sumsOf(true, 200, 8, 1)
    const { direct, retrieved, excess, net, followUps } = verdictOf({ elided, whole }, SHARE)
    expect(direct).toBe(1_800 * 900)
    expect(retrieved / direct).toBeCloseTo(0.25 - 0.125, 1)
    expect(direct - retrieved - excess).toBeCloseTo(net!.estimate)
    expect(net!.low).toBeGreaterThan(0)
    expect(followUps!.estimate).toBeCloseTo(0.125)
  })

  test('is below 0 if results come back at more than they saved', () => {
    const verdict = verdictOf(
      { elided: sumsOf(false, 1_800, 2, 4), whole: sumsOf(true, 200, 8, 1) },
      SHARE,
    )
    expect(verdict.net!.high).toBeLessThan(0)
    expect(verdict.missing).toBe(0)
  })

  test('is unknown with few results, and then says how many it takes', () => {
    const few = verdictOf(
      { elided: sumsOf(false, 1_800, 4, 1), whole: sumsOf(true, 20, 8, 1) },
      SHARE,
    )
    expect(few).toMatchObject({ net: null, followUps: null, missing: 300 })
    expect(verdictOf({ elided: NO_SUMS, whole: NO_SUMS }, 0).missing).toBe(10_000_000)
    const close = { elided: sumsOf(false, 450, 2, 2), whole: sumsOf(true, 60, 8, 1) }
    const { net, missing } = verdictOf(close, SHARE)
    expect(Math.sign(net!.low)).not.toBe(Math.sign(net!.high))
    expect(missing).toBeGreaterThan(0)
  })

  test('does not change with the share that results were drawn with', () => {
    const halves = (isWhole: boolean, share: number) => {
      const arm: ResultArm = { class: 'Read', isWhole, direct: 100, share }
      return addSums(arrival(arm)!.sums, arrival({ ...arm, direct: 300 })!.sums)
    }
    expect(halves(true, 0.1).wd / halves(true, 0.1).w).toBe(200)
    expect(halves(true, 0.5).wd / halves(true, 0.5).w).toBe(200)
  })

  test('counts nothing where the share compares nothing', () => {
    for (const share of [0, 1, Number.NaN]) {
      expect(arrival({ class: 'Read', isWhole: false, direct: 1, share })).toBeNull()
    }
  })
})

test('the reach of an interval grows slowly with the looks it allows', () => {
  // By the formula, computed by hand for time = 1 with alpha = 0.05.
  expect(sequenceFactor(1_000, 0.05)).toBeGreaterThan(2.5)
  expect(sequenceFactor(1_000, 0.05)).toBeLessThan(3.5)
  expect(sequenceFactor(100_000, 0.05)).toBeLessThan(4)
  expect(sequenceFactor(10, 0.05)).toBeGreaterThan(sequenceFactor(1_000, 0.05))
})

describe('a test of units', () => {
  const draws = createXorshift(7)
  const random = () => draws(1 << 20) / (1 << 20)

  test('finds a difference that no other draw has', () => {
    const units = Array.from({ length: 40 }, (_, n) => ({ isHeldOut: n < 8, value: n < 8 ? 1 : 5 }))
    const { difference, p } = testUnits(units, random)!
    expect(difference).toBe(4)
    expect(p).toBeLessThan(0.01)
  })

  test('is as often below any level as the level says, if there is no difference', () => {
    let below = 0
    for (let run = 0; run < 200; run++) {
      const units = Array.from({ length: 30 }, () => ({
        isHeldOut: random() < 0.3,
        value: random() ** 4,
      }))
      if ((testUnits(units, random, 200)?.p ?? 1) <= 0.05) below++
    }
    expect(below / 200).toBeLessThan(0.11)
  })

  test('says nothing of one arm', () => {
    expect(testUnits([{ isHeldOut: false, value: 1 }], random)).toBeNull()
    expect(testUnits([], random)).toBeNull()
  })
})
