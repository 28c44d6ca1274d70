import { describe, expect, it } from 'vitest'
import { FairQueue, type Kind, type Queued } from '../../../src/core/base/fair-queue.ts'
import { BATCH_LIMITS, createEstimates, takeBatch } from '../../../src/pool/batching.ts'

type Learnt = ReturnType<typeof createEstimates>

const of = (op: string, bytes: number, tenant = 'local') => ({ tenant, op, bytes })

/** How many of `jobs` travel together, each given as operation and bytes. */
function size(estimates: Learnt, jobs: readonly [string, number][], freeThreads: number): number {
  const queue = new FairQueue<Queued & { kind: Kind; lost: number }>()
  for (const [op, bytes] of jobs) {
    const job = of(op, bytes)
    const { kind, costUs } = estimates.of(job)
    queue.push({ tenant: 'local', kind, costUs, queuedAt: 0, lost: 0 })
  }
  const batch = takeBatch(queue, freeThreads)
  expect(queue.length).toBe(jobs.length - batch.length)
  return batch.length
}

const many = (count: number, op: string, bytes = 1000): [string, number][] =>
  Array.from({ length: count }, () => [op, bytes])

/** Batching that has learnt what jobs of 1,000 bytes of `op` take. */
function learnt(op: string, workUs: number): Learnt {
  const estimates = createEstimates()
  for (let i = 0; i < 500; i++) estimates.learn(of(op, 1000), workUs)
  return estimates
}

describe('batching', () => {
  it('takes one of one', () => {
    expect(size(createEstimates(), many(1, 'encode'), 4)).toBe(1)
  })

  it('sends heavy jobs one by one', () => {
    expect(size(learnt('encode', 5_000), many(10, 'encode'), 1)).toBe(1)
  })

  it('shares middling jobs out among free threads', () => {
    const estimates = learnt('encode', 220)
    expect(size(estimates, many(8, 'encode'), 2)).toBe(4)
    expect(size(estimates, many(8, 'encode'), 8)).toBe(1)
    expect(size(estimates, many(80, 'encode'), 1)).toBe(13)
  })

  it('keeps tiny jobs together although threads are free', () => {
    const together = size(learnt('count', 10), many(40, 'count'), 4)
    expect(together).toBeGreaterThanOrEqual(BATCH_LIMITS.minWorkUs / 10 - 1)
  })

  it('is bounded in jobs', () => {
    expect(size(learnt('count', 0), many(500, 'count'), 1)).toBe(BATCH_LIMITS.maxJobs)
  })

  it('judges each operation and size by itself', () => {
    const estimates = learnt('count', 10)
    const jobs = [...many(3, 'count'), ...many(1, 'count', 4e5), ...many(9, 'count')]
    expect(size(estimates, jobs, 1)).toBe(3)
  })

  it('expects nothing of large jobs from what small ones cost', () => {
    const estimates = createEstimates()
    const before = estimates.of(of('encode', 1e6)).costUs
    for (let i = 0; i < 100; i++) estimates.learn(of('encode', 50), 5_000)
    expect(estimates.of(of('encode', 1e6)).costUs).toBe(before)
    expect(estimates.of(of('encode', 50)).costUs).toBeGreaterThan(4_000)
  })

  it('learns a change for the worse', () => {
    const estimates = learnt('encode', 10)
    for (let i = 0; i < 200; i++) estimates.learn(of('encode', 1000), 2_000)
    expect(size(estimates, many(10, 'encode'), 1)).toBe(1)
  })
})
