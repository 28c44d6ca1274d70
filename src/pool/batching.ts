import type { Kind } from '../core/base/fair-queue.ts'
import { SHORT_MS, type Sized } from './slots.ts'

/**
 * When jobs travel together. A round trip to a worker costs 30–60 µs, however little it carries, so
 * jobs that wait anyway share one. A batch is answered as a whole, so it must stay short.
 */
export const BATCH_LIMITS = {
  /**
   * Waiting work is not spread over more threads while a batch has less than this, in microseconds.
   */
  minWorkUs: 200,
  /**
   * A batch of several jobs is not made longer than this, in microseconds. Only a queue makes
   * batches long: with 64 clients, 3 ms gave a fifth more answers than 1 ms, and 9 ms no more than
   * 3.
   */
  maxWorkUs: 3_000,
  /** Most jobs in one message. */
  maxJobs: 64,
  /**
   * Bodies above are read into a buffer of their own and transferred. Up to here copying costs the
   * same, and a body that was copied can be sent again when its thread is lost.
   */
  copyBytes: 64 * 1024,
  /**
   * Larger jobs are long, however fast. A short one is copied to its thread, so that it can be sent
   * again; 1 MiB takes about 0.2 ms.
   */
  shortBytes: 1024 * 1024,
} as const

/** What a job is expected to be. */
export interface Estimate {
  /** What it will take, in whole microseconds. */
  readonly costUs: number
  readonly kind: Kind
  /** Whether a job of its tenant, operation and size has ended, or has shown to be long. */
  readonly isKnown: boolean
}

/** Estimates jobs by the times of earlier jobs of the same tenant, operation and similar size. */
export interface Estimates {
  /** What a job is expected to be. */
  of(job: Sized): Estimate
  /** Learns from a job that ended or was stopped. */
  learn(job: Sized, workUs: number): void
  /** Learns from a job that was estimated as short and is running long. */
  distrust(job: Sized): void
}

/** Share of the newest job in the running mean. */
const WEIGHT = 0.05
/** Jobs like one that ran long are long until this many of them were short. */
const TRUSTED_AFTER = 20
/** Bytes that represent the fixed part of a job. */
const FIXED_BYTES = 512
/** The estimate until the first job has ended. It is so high that first batches stay small. */
const FIRST_US_PER_BYTE = 0.1

/**
 * Sizes within a factor of two learn from each other; the times of small jobs say nothing about
 * large ones.
 */
const SIZES = 32

/** Most pairs of tenant and operation that are remembered, in some 500 bytes each. */
const MAX_KNOWN = 10_000

/** By tenant, so that no tenant makes the jobs of others look long or short. */
export function createEstimates(): Estimates {
  const known = new Map<string, Learnt>()

  const keyOf = ({ tenant, op }: Sized) => `${op} ${tenant}`

  function learntOf(job: Sized): Learnt {
    const key = keyOf(job)
    return known.get(key) ?? begin(key)
  }

  function begin(key: string): Learnt {
    const learnt = { rates: new Float64Array(SIZES), doubts: new Uint8Array(SIZES) }
    for (const [oldest] of known) {
      if (known.size < MAX_KNOWN) break
      known.delete(oldest)
    }
    known.set(key, learnt)
    return learnt
  }

  return {
    of(job) {
      const learnt = known.get(keyOf(job))
      const size = sizeOf(job.bytes)
      const rate = learnt?.rates[size] ?? 0
      const isDoubted = (learnt?.doubts[size] ?? 0) > 0
      const costUs = Math.round((rate || FIRST_US_PER_BYTE) * (job.bytes + FIXED_BYTES))
      const isLong = isDoubted || costUs > SHORT_MS * 1000 || job.bytes > BATCH_LIMITS.shortBytes
      return { costUs, kind: isLong ? 'long' : 'short', isKnown: rate > 0 || isDoubted }
    },
    learn(job, workUs) {
      const { rates, doubts } = learntOf(job)
      const size = sizeOf(job.bytes)
      const before = rates[size] || FIRST_US_PER_BYTE
      rates[size] = before + WEIGHT * (workUs / (job.bytes + FIXED_BYTES) - before)
      const left = doubts[size] as number
      doubts[size] = workUs > SHORT_MS * 1000 ? TRUSTED_AFTER : Math.max(0, left - 1)
    },
    distrust(job) {
      learntOf(job).doubts[sizeOf(job.bytes)] = TRUSTED_AFTER
    },
  }
}

/** What jobs of one tenant and operation took, by size. */
interface Learnt {
  /** Microseconds a byte; 0: not known. */
  readonly rates: Float64Array
  /** Jobs that must be short before such jobs count as short again. */
  readonly doubts: Uint8Array
}

/** The binary logarithm, in whole numbers. */
function sizeOf(bytes: number): number {
  return SIZES - 1 - Math.clz32(bytes + FIXED_BYTES)
}

/** Jobs that may go next, in their order. */
interface Source<T> {
  readonly length: number
  peek(): T | undefined
  take(): T | undefined
}

/** As much of a job as decides whether it travels with others. */
interface Passenger {
  readonly kind: Kind
  readonly costUs: number
  readonly lost: number
}

/**
 * Takes the jobs of the next message off the queue, at least one if there is one. Short jobs share
 * a message. A job whose batch was lost is sent alone, so that another job's fault cannot lose it
 * again. A job of which nothing is known is sent alone, so that it delays no other if it is long.
 */
export function takeBatch<T extends Passenger>(
  queue: Source<T>,
  freeThreads: number,
  isKnown: (entry: T) => boolean = () => true,
): T[] {
  const isAlone = (entry: T) => entry.kind === 'long' || entry.lost > 0 || !isKnown(entry)
  const share = Math.ceil(queue.length / Math.max(1, freeThreads))
  const batch: T[] = []
  let workUs = 0
  for (let entry = queue.peek(); entry !== undefined; entry = queue.peek()) {
    const enough = batch.length >= share && workUs >= BATCH_LIMITS.minWorkUs
    const tooLong = workUs + entry.costUs > BATCH_LIMITS.maxWorkUs
    if (batch.length > 0 && (enough || tooLong || isAlone(entry))) break
    if (batch.length === BATCH_LIMITS.maxJobs) break
    workUs += entry.costUs
    batch.push(entry)
    queue.take()
    if (isAlone(entry)) break
  }
  return batch
}
