import { describe, expect, it } from 'vitest'
import { BATCH_LIMITS, createBatching } from '../../../src/pool/batching.ts'

const entry = (op: string, bytes: number) => ({ job: { op }, bytes })
const many = (count: number, op: string, bytes = 1000) =>
  Array.from({ length: count }, () => entry(op, bytes))

/** Batching that has learnt what jobs of 1,000 bytes of `op` take. */
function learnt(op: string, workUs: number) {
  const batching = createBatching()
  for (let i = 0; i < 500; i++) batching.learn(op, 1000, workUs)
  return batching
}

describe('batching', () => {
  it('takes one of one', () => {
    expect(createBatching().size(many(1, 'encode'), 4)).toBe(1)
  })

  it('sends heavy jobs one by one', () => {
    expect(learnt('encode', 5_000).size(many(10, 'encode'), 1)).toBe(1)
  })

  it('shares middling jobs out among free threads', () => {
    const batching = learnt('encode', 220)
    expect(batching.size(many(8, 'encode'), 2)).toBe(4)
    expect(batching.size(many(8, 'encode'), 8)).toBe(1)
    expect(batching.size(many(80, 'encode'), 1)).toBe(13)
  })

  it('keeps tiny jobs together although threads are free', () => {
    const size = learnt('count', 10).size(many(40, 'count'), 4)
    expect(size).toBeGreaterThanOrEqual(BATCH_LIMITS.minWorkUs / 10 - 1)
  })

  it('is bounded in jobs', () => {
    expect(learnt('count', 0).size(many(500, 'count'), 1)).toBe(BATCH_LIMITS.maxJobs)
  })

  it('judges each operation and size by itself', () => {
    const batching = learnt('count', 10)
    const size = batching.size([...many(3, 'count'), entry('count', 1e6), ...many(9, 'count')], 1)
    expect(size).toBe(3)
  })

  it('learns a change for the worse', () => {
    const batching = learnt('encode', 10)
    for (let i = 0; i < 200; i++) batching.learn('encode', 1000, 2_000)
    expect(batching.size(many(10, 'encode'), 1)).toBe(1)
  })
})
