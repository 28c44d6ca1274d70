import type { Random } from '../../src/bill/statistics.ts'
import type { Capacity, EncodeCosts } from './capacity.ts'

export interface Simulated {
  /** Shares of their time that the threads and Redis work. */
  readonly threadsBusy: number
  readonly redisBusy: number
  /** How long results wait, in milliseconds. */
  readonly p50WaitMs: number
  readonly p99WaitMs: number
}

/**
 * Plays results through queues: arrivals at random, the main thread of a pod, its threads, and a
 * node of Redis by tenant. Work takes its measured time, times an exponential variable of mean 1.
 */
export function simulate(
  capacity: Pick<Capacity, 'resultsPerS' | 'pods' | 'cores' | 'redisNodes'>,
  costs: Pick<EncodeCosts, 'serviceUs' | 'mainUs' | 'redisUs'>,
  { results, random }: { readonly results: number; readonly random: Random },
): Simulated {
  const { resultsPerS, pods, cores, redisNodes } = capacity
  const unit = () => (random(2 ** 30) + 1) / 2 ** 30
  const exponential = (mean: number) => -Math.log(unit()) * mean
  const mains = new Float64Array(pods)
  // The main thread has a processor of its own.
  const perPod = Math.max(1, cores / pods - 1)
  const threads = Array.from({ length: pods }, () => new Float64Array(perPod))
  const nodes = new Float64Array(redisNodes)
  const waits: number[] = []
  let now = 0
  let threadWork = 0
  let redisWork = 0
  for (let i = 0; i < results; i++) {
    now += exponential(1e6 / resultsPerS)
    const pod = random(pods)
    let at = now
    let wait = 0
    const pass = (queue: Float64Array, which: number, work: number) => {
      const start = Math.max(at, queue[which]!)
      wait += start - at
      at = start + work
      queue[which] = at
    }
    const inThread = exponential(costs.serviceUs - costs.mainUs)
    const inRedis = exponential(costs.redisUs)
    pass(mains, pod, exponential(costs.mainUs))
    const own = threads[pod]!
    pass(own, firstFree(own), inThread)
    pass(nodes, random(redisNodes), inRedis)
    threadWork += inThread
    redisWork += inRedis
    waits.push(wait)
  }
  waits.sort((a, b) => a - b)
  return {
    threadsBusy: threadWork / (now * pods * perPod),
    redisBusy: redisWork / (now * redisNodes),
    p50WaitMs: waits[results >> 1]! / 1_000,
    p99WaitMs: waits[Math.floor(results * 0.99)]! / 1_000,
  }
}

function firstFree(queue: Float64Array): number {
  let first = 0
  for (let i = 1; i < queue.length; i++) if (queue[i]! < queue[first]!) first = i
  return first
}
