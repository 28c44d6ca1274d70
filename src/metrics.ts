import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Report } from './core/operations/operation.ts'

/** Everything that `GET /metrics` shows. Label values come from fixed sets only, never from clients. */
export interface Metrics {
  readonly registry: Registry
  /** One finished request; sizes in bytes, times in milliseconds. */
  request(route: string, status: number, totalMs: number, bodyBytes: number): void
  job(op: string, queueMs: number, workMs: number): void
  report(report: Report): void
  error(code: string): void
  threadLost(reason: 'lost' | 'timeout'): void
  /** One message to a thread, with this many jobs. */
  batch(jobs: number): void
}

/** Read when the metrics are scraped. */
export interface Gauges {
  jobsAdmitted(): number
  bytesAdmitted(): number
  jobsWaiting(): number
}

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const BYTES = [256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216]
const JOBS = [1, 2, 4, 8, 16, 32, 64]
const TOKENS = [16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576]

/** Registers the metrics in a registry of their own, so that two services in one process do not mix. */
export function createMetrics(gauges: Gauges): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, prefix: 'haversack_' })

  const seconds = (name: string, help: string, ...labelNames: string[]) =>
    new Histogram({ name, help, labelNames, buckets: SECONDS, registers })
  const tokens = (name: string, help: string) =>
    new Histogram({ name, help, buckets: TOKENS, registers })
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers })
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read())
      },
    })

  const requestTime = seconds(
    'haversack_request_seconds',
    'Time to answer a request',
    'route',
    'status',
  )
  const queueTime = seconds('haversack_queue_seconds', 'Time that jobs waited for a thread', 'op')
  const workTime = seconds('haversack_work_seconds', 'Time that jobs took in a thread', 'op')
  const bodyBytes = new Histogram({
    name: 'haversack_request_body_bytes',
    help: 'Size of request bodies',
    buckets: BYTES,
    registers,
  })
  const batchJobs = new Histogram({
    name: 'haversack_batch_jobs',
    help: 'Jobs in one message to a thread',
    buckets: JOBS,
    registers,
  })
  const tokensIn = tokens('haversack_tokens_in', 'Tokens of an encoded input as it came')
  const tokensOut = tokens('haversack_tokens_out', 'Tokens of an encoded input as it left')
  const results = counter('haversack_results_total', 'Encoded results by layer, format and shape', [
    'layer',
    'format',
    'shape',
  ])
  const refusals = counter('haversack_gate_refusals_total', 'Candidates that the gate kept back', [
    'format',
    'reason',
  ])
  const errors = counter('haversack_errors_total', 'Failed requests by code', ['code'])
  const lost = counter('haversack_threads_lost_total', 'Worker threads replaced', ['reason'])
  gauge('haversack_admitted_jobs', 'Requests being read, waiting or running', gauges.jobsAdmitted)
  gauge('haversack_admitted_bytes', 'Bytes of their bodies', gauges.bytesAdmitted)
  gauge('haversack_waiting_jobs', 'Jobs that wait for a thread', gauges.jobsWaiting)

  return {
    registry,
    request(route, status, totalMs, bytes) {
      requestTime.observe({ route, status }, totalMs / 1000)
      if (bytes > 0) bodyBytes.observe(bytes)
    },
    job(op, queueMs, workMs) {
      queueTime.observe({ op }, queueMs / 1000)
      workTime.observe({ op }, workMs / 1000)
    },
    report({ layer, format, shape, tokens_in, tokens_out, refusals: refused }) {
      if (layer === undefined || format === undefined || shape === undefined) return
      results.inc({ layer, format, shape })
      tokensIn.observe(tokens_in ?? 0)
      tokensOut.observe(tokens_out ?? 0)
      for (const refusal of refused ?? []) refusals.inc({ ...refusal })
    },
    error: code => errors.inc({ code }),
    batch: jobs => batchJobs.observe(jobs),
    threadLost: reason => lost.inc({ reason }),
  }
}
