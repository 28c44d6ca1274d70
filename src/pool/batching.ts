/**
 * When jobs travel together. A round trip to a worker costs 30–60 µs however little it carries, so
 * jobs that wait anyway share one; but a batch is answered as a whole, so it must stay short.
 * `npm run bench:worker-path` prints the tables behind these figures.
 */
export const BATCH_LIMITS = {
  /** Waiting work is not spread over more threads while a batch has less than this, in microseconds. */
  minWorkUs: 200,
  /**
   * A batch of several jobs is not made longer than this, in microseconds. Only a queue makes batches
   * long: with 64 clients, 3 ms gave a fifth more answers than 1 ms, and 9 ms no more than 3.
   */
  maxWorkUs: 3_000,
  /** Most jobs in one message. */
  maxJobs: 64,
  /**
   * Bodies above are read into a buffer of their own and transferred. Up to here copying costs the same,
   * and a body that was copied can be sent again when its thread is lost.
   */
  copyBytes: 64 * 1024,
} as const

/** Estimates jobs by what such of the same operation and about the same size took so far. */
export interface Batching {
  /** What a job of `bytes` bytes will take, by estimate, in whole microseconds. */
  estimateUs(op: string, bytes: number): number
  /** Learns from a finished job of `bytes` bytes. */
  learn(op: string, bytes: number, workUs: number): void
}

/** Share of the newest job in the running mean. */
const WEIGHT = 0.05
/** Bytes that stand for the fixed part of a job. */
const FIXED_BYTES = 512
/** Until the first job has ended: slow enough that first batches stay small. */
const FIRST_US_PER_BYTE = 0.1

/** Sizes within a factor of two learn from each other; what small jobs cost says nothing of large ones. */
const SIZES = 32

export function createBatching(): Batching {
  const usPerByte = new Map<string, Float64Array>()

  function ratesOf(op: string): Float64Array {
    const known = usPerByte.get(op)
    if (known !== undefined) return known
    const rates = new Float64Array(SIZES).fill(FIRST_US_PER_BYTE)
    usPerByte.set(op, rates)
    return rates
  }

  return {
    estimateUs: (op, bytes) =>
      Math.round((ratesOf(op)[sizeOf(bytes)] as number) * (bytes + FIXED_BYTES)),
    learn(op, bytes, workUs) {
      const rates = ratesOf(op)
      const size = sizeOf(bytes)
      const known = rates[size] as number
      rates[size] = known + WEIGHT * (workUs / (bytes + FIXED_BYTES) - known)
    },
  }
}

/** The binary logarithm, in whole numbers. */
function sizeOf(bytes: number): number {
  return SIZES - 1 - Math.clz32(bytes + FIXED_BYTES)
}

/** A queue that a batch is taken from: `FairQueue`, as far as it matters here. */
interface Source<T> {
  readonly length: number
  peek(): T | undefined
  take(): T | undefined
}

/** Takes the jobs of the next message off the queue; at least one where there is one. */
export function takeBatch<T extends { readonly costUs: number }>(
  queue: Source<T>,
  freeThreads: number,
): T[] {
  const share = Math.ceil(queue.length / Math.max(1, freeThreads))
  const batch: T[] = []
  let workUs = 0
  for (let entry = queue.peek(); entry !== undefined; entry = queue.peek()) {
    const enough = batch.length >= share && workUs >= BATCH_LIMITS.minWorkUs
    const tooLong = workUs + entry.costUs > BATCH_LIMITS.maxWorkUs
    if (batch.length > 0 && (enough || tooLong)) break
    if (batch.length === BATCH_LIMITS.maxJobs) break
    workUs += entry.costUs
    batch.push(entry)
    queue.take()
  }
  return batch
}
