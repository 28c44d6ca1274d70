import { describe, expect, it } from 'vitest'
import { createFairQueue, type Queued } from '../../../src/core/scheduling/fair-queue.ts'
import { BATCH_LIMITS, createBatching, takeBatch } from '../../../src/pool/batching.ts'

type Learnt = ReturnType<typeof createBatching>

/** How many of `jobs` travel together, each given as operation and bytes. */
function size(batching: Learnt, jobs: readonly [string, number][], freeThreads: number): number {
  const queue = createFairQueue<Queued>()
  for (const [op, bytes] of jobs) {
    queue.push({ tenant: 'local', costUs: batching.estimateUs(op, bytes), queuedAt: 0 })
  }
  const batch = takeBatch(queue, freeThreads)
  expect(queue.length).toBe(jobs.length - batch.length)
  return batch.length
}

const many = (count: number, op: string, bytes = 1000): [string, number][] =>
  Array.from({ length: count }, () => [op, bytes])

/** Batching that has learnt what jobs of 1,000 bytes of `op` take. */
function learnt(op: string, workUs: number): Learnt {
  const batching = createBatching()
  for (let i = 0; i < 500; i++) batching.learn(op, 1000, workUs)
  return batching
}

describe('batching', () => {
  it('takes one of one', () => {
    expect(size(createBatching(), many(1, 'encode'), 4)).toBe(1)
  })

  it('sends heavy jobs one by one', () => {
    expect(size(learnt('encode', 5_000), many(10, 'encode'), 1)).toBe(1)
  })

  it('shares middling jobs out among free threads', () => {
    const batching = learnt('encode', 220)
    expect(size(batching, many(8, 'encode'), 2)).toBe(4)
    expect(size(batching, many(8, 'encode'), 8)).toBe(1)
    expect(size(batching, many(80, 'encode'), 1)).toBe(13)
  })

  it('keeps tiny jobs together although threads are free', () => {
    const together = size(learnt('count', 10), many(40, 'count'), 4)
    expect(together).toBeGreaterThanOrEqual(BATCH_LIMITS.minWorkUs / 10 - 1)
  })

  it('is bounded in jobs', () => {
    expect(size(learnt('count', 0), many(500, 'count'), 1)).toBe(BATCH_LIMITS.maxJobs)
  })

  it('judges each operation and size by itself', () => {
    const batching = learnt('count', 10)
    const jobs = [...many(3, 'count'), ...many(1, 'count', 1e6), ...many(9, 'count')]
    expect(size(batching, jobs, 1)).toBe(3)
  })

  it('expects nothing of large jobs from what small ones cost', () => {
    const batching = createBatching()
    const before = batching.estimateUs('encode', 1e6)
    for (let i = 0; i < 100; i++) batching.learn('encode', 50, 5_000)
    expect(batching.estimateUs('encode', 1e6)).toBe(before)
    expect(batching.estimateUs('encode', 50)).toBeGreaterThan(4_000)
  })

  it('learns a change for the worse', () => {
    const batching = learnt('encode', 10)
    for (let i = 0; i < 200; i++) batching.learn('encode', 1000, 2_000)
    expect(size(batching, many(10, 'encode'), 1)).toBe(1)
  })
})
