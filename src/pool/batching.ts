/**
 * When jobs travel together. A round trip to a worker costs 50–100 µs however little it carries, so
 * jobs that wait anyway share one; but a batch is answered as a whole, so it must stay short against the
 * work itself. Measured by `npm run bench:worker-path`, which prints the tables behind these figures.
 */
export const BATCH_LIMITS = {
  /** Most jobs in one message. */
  jobs: 16,
  /** Most bytes of bodies in one message; about 1 ms of encoding. */
  bytes: 16 * 1024,
  /** Bodies above are read into a buffer of their own and transferred; smaller ones are copied. */
  copyBytes: 16 * 1024,
} as const

interface Sized {
  readonly body: Uint8Array
}

/**
 * How many of the waiting jobs the next message takes: an equal share for each free worker, so that one
 * does not get all while others idle, within the limits, and at least one.
 */
export function batchSize(waiting: readonly Sized[], freeWorkers: number): number {
  const share = Math.min(BATCH_LIMITS.jobs, Math.ceil(waiting.length / Math.max(1, freeWorkers)))
  let bytes = 0
  let size = 0
  for (const job of waiting) {
    bytes += job.body.length
    if (size > 0 && (size >= share || bytes > BATCH_LIMITS.bytes)) break
    size++
  }
  return size
}
