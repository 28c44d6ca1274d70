import { describe, expect, test } from 'vitest'
import { createSharedRate } from '../../../src/access/limits.ts'
import type { LeaseRequest, SharedLeases } from '../../../src/core/base/shared-rates.ts'

const KEY = { tenant: 'a', keyId: 'key1' }

/** The bucket as the store has it, asked without delay. */
function bucketOf(replicas: number) {
  let tokens: number | null = null
  let filledAt = 0
  const bucket = { now: 0, isAway: false, asked: 0 }
  const rates: SharedLeases = {
    replicas,
    async lease({ perSecond, burst, wanted, taken }: LeaseRequest) {
      if (bucket.isAway) return null
      bucket.asked++
      tokens ??= burst
      tokens = Math.min(burst, tokens + ((bucket.now - filledAt) * perSecond) / 1000) - taken
      filledAt = bucket.now
      const granted = Math.min(wanted, Math.max(0, Math.floor(tokens)))
      tokens -= granted
      return { granted, waitMs: granted > 0 ? 0 : 10 }
    },
  }
  return { bucket, rates }
}

/** How many of the requests pass that come each millisecond, each to the next process. */
async function pass(
  perSecond: number,
  burst: number,
  ms: number,
  { bucket, rates }: ReturnType<typeof bucketOf>,
  each: (now: number) => void = () => {},
) {
  const processes = Array.from({ length: rates.replicas }, () =>
    createSharedRate({ ...KEY, perSecond, burst }, () => rates),
  )
  let passed = 0
  for (let now = 0; now < ms; now++) {
    bucket.now = now
    each(now)
    for (const process of processes) if (process.take(now) === 0) passed++
    // What was leased arrives before the next millisecond.
    await Promise.resolve()
    await Promise.resolve()
    await Promise.resolve()
  }
  return passed
}

describe('a rate that three processes share', () => {
  test.each([
    [10, 10],
    [100, 100],
    [100, 20],
    [500, 100],
    [1, 5],
  ])('of %i a second with a burst of %i is kept within 5 %%', async (perSecond, burst) => {
    const passed = await pass(perSecond, burst, 10_000, bucketOf(3))
    const limit = burst + perSecond * 10
    expect(passed).toBeGreaterThanOrEqual(limit * 0.95 - 1)
    expect(passed).toBeLessThanOrEqual(limit * 1.05 + 1)
  })

  test('is a share each while the store is away, and one lease', async () => {
    const three = bucketOf(3)
    three.bucket.isAway = true
    // Each has its share of the burst and of the rate.
    const passed = await pass(100, 30, 10_000, three)
    expect(passed).toBeGreaterThan(900)
    expect(passed).toBeLessThanOrEqual(1_000 + 30 + 3 * 5)
  })

  test('does not add up when the store is away for a while', async () => {
    const three = bucketOf(3)
    const passed = await pass(100, 30, 10_000, three, now => {
      three.bucket.isAway = now > 3_000 && now < 6_000
    })
    expect(passed).toBeGreaterThan(0.95 * 1_030)
    expect(passed).toBeLessThanOrEqual(1.05 * 1_030)
  })

  test('asks for few leases, and lets the first request after a pause pass', async () => {
    const one = bucketOf(1)
    const process = createSharedRate({ ...KEY, perSecond: 100, burst: 10 }, () => one.rates)
    for (let now = 0; now < 1_000; now++) {
      one.bucket.now = now
      process.take(now)
      await Promise.resolve()
    }
    expect(one.bucket.asked).toBeLessThan(110)
    expect(process.take(60_000)).toBe(0)
    expect(process.take(60_000)).toBe(0)
  })

  test('says how long to wait', () => {
    const away: SharedLeases = { replicas: 2, lease: async () => null }
    const process = createSharedRate({ ...KEY, perSecond: 1, burst: 2 }, () => away)
    expect(process.take(0)).toBe(0)
    expect(process.take(0)).toBe(2_000)
    expect(process.take(500)).toBe(1_500)
    expect(process.take(2_000)).toBe(0)
  })

  test('is one process’s own until the store is there', () => {
    const process = createSharedRate({ ...KEY, perSecond: 1, burst: 2 }, () => undefined)
    expect([process.take(0), process.take(0)]).toEqual([0, 0])
    expect(process.take(0)).toBe(1_000)
  })
})
