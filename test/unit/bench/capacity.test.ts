import { expect, test } from 'vitest'
import { capacityOf, costsOfEncode, MEASURED, TYPICAL } from '../../../bench/store/capacity.ts'
import { simulate } from '../../../bench/store/simulate.ts'
import { createRandom } from '../../../src/bill/statistics.ts'

const costs = costsOfEncode(MEASURED, TYPICAL.movingShare)

const needOf = (agents: number, load: Partial<typeof TYPICAL> = {}) =>
  capacityOf({ ...TYPICAL, agents, ...load })

test('ten times the agents need ten times of what they use, and never fewer than three pods', () => {
  expect(needOf(100)).toMatchObject({ pods: 3, podsBy: 'availability', redisNodes: 1 })
  const some = needOf(1_000_000)
  const more = needOf(10_000_000)
  expect(more.redisGib / some.redisGib).toBeCloseTo(10)
  expect(more.redisCallsPerS / some.redisCallsPerS).toBeCloseTo(10)
  expect(more.pods / some.pods).toBeCloseTo(10, 0)
})

test('sessions that stay with a pod need half of the calls', () => {
  const moving = needOf(10_000)
  const staying = needOf(10_000, { movingShare: 0 })
  expect(staying.redisCallsPerS / moving.redisCallsPerS).toBeCloseTo(0.5, 1)
  expect(staying.redisGib).toBe(moving.redisGib)
})

test('with many cores a pod is bounded by its main thread', () => {
  const wide = needOf(1_000_000, { coresPerPod: 16 })
  expect(wide).toMatchObject({ podsBy: 'main thread' })
  expect((wide.resultsPerS * costs.mainUs) / 1e6 / wide.pods).toBeLessThanOrEqual(0.6)
  expect(needOf(1_000_000, { coresPerPod: 2 })).toMatchObject({ podsBy: 'threads' })
})

test('what breaks first depends on the load', () => {
  expect(needOf(1_000_000).breaksFirst).toMatch(/largest tenant/)
  const small = { largestTenant: 0.001 }
  const short = { sessionHours: 0.1, originalHours: 0.5 }
  expect(needOf(1_000_000, small).breaksFirst).toMatch(/memory/)
  expect(needOf(1_000_000, { ...small, ...short }).breaksFirst).toMatch(/one thread/)
  const thin = { ...small, ...short, coresPerPod: 1 }
  expect(needOf(120_000, thin).breaksFirst).toMatch(/pods/)
})

test.each([10_000, 100_000, 1_000_000])(
  '%i agents keep queues as busy as the model says',
  agents => {
    const need = needOf(agents, { sessionHours: 0.1 })
    const results = 20_000
    const played = simulate(need, costs, { results, random: createRandom(1) })
    const redis = (need.resultsPerS * costs.redisUs) / 1e6 / need.redisNodes
    expect(played.redisBusy / redis).toBeGreaterThan(0.8)
    expect(played.redisBusy / redis).toBeLessThan(1.2)
    expect(played.threadsBusy).toBeLessThan(0.6)
    expect(played.p99WaitMs).toBeLessThan(100)
    // With half of the pods the queues do not end.
    const few = { ...need, pods: Math.ceil(need.pods / 3), cores: Math.ceil(need.cores / 3) }
    const crowded = simulate(few, costs, { results, random: createRandom(1) })
    expect(crowded.p99WaitMs).toBeGreaterThan(played.p99WaitMs)
  },
)
