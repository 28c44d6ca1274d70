import { type Register, SECONDS } from './register.ts'

const BYTES = [256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216]
const JOBS = [1, 2, 4, 8, 16, 32, 64]

/** Requests and their jobs. */
export interface OperationMetrics {
  /** One finished request; sizes in bytes, times in milliseconds. */
  request(route: string, status: number, totalMs: number, bodyBytes: number): void
  job(op: string, queueMs: number, workMs: number): void
  /** One message to a thread, with this many jobs. */
  batch(jobs: number): void
}

/** How long requests and their jobs take, and how large they are. */
export function createOperationMetrics({ histogram }: Register): OperationMetrics {
  const requestTime = histogram(
    'haversack_request_seconds',
    'Time to answer a request',
    SECONDS,
    'route',
    'status',
  )
  const queueTime = histogram(
    'haversack_queue_seconds',
    'Time that jobs waited for a thread',
    SECONDS,
    'op',
  )
  const workTime = histogram(
    'haversack_work_seconds',
    'Time that jobs took in a thread',
    SECONDS,
    'op',
  )
  const bodyBytes = histogram('haversack_request_body_bytes', 'Size of request bodies', BYTES)
  const batchJobs = histogram('haversack_batch_jobs', 'Jobs in one message to a thread', JOBS)
  return {
    request(route, status, totalMs, bytes) {
      requestTime(totalMs / 1000, route, status)
      if (bytes > 0) bodyBytes(bytes)
    },
    job(op, queueMs, workMs) {
      queueTime(queueMs / 1000, op)
      workTime(workMs / 1000, op)
    },
    batch: jobs => batchJobs(jobs),
  }
}
