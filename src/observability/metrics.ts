import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { SentReport } from '../core/contract/report.ts'
import type { LostReason } from '../pool/pool-options.ts'
import { VERSION } from '../runtime/version.ts'
import type { StoreState, StoreStats } from '../store/store.ts'
import { createHistogram } from './histogram.ts'
import { createProxyMetrics, type ProxyMetrics } from './proxy-metrics.ts'
import { registerSessionGauges, type SessionUse } from './session-metrics.ts'
import { registerStoreGauges } from './store-metrics.ts'

/**
 * Everything that `GET /metrics` shows. Label values come from fixed sets only, never from clients.
 */
export interface Metrics {
  readonly registry: Registry
  readonly proxy: ProxyMetrics
  /** One finished request; sizes in bytes, times in milliseconds. */
  request(route: string, status: number, totalMs: number, bodyBytes: number): void
  job(op: string, queueMs: number, workMs: number): void
  report(report: SentReport): void
  error(code: string): void
  threadLost(reason: LostReason): void
  /** One message to a thread, with this many jobs. */
  batch(jobs: number): void
  /** A request that is not HTTP, or came too slowly. */
  protocolError(status: number): void
  /** An error that nothing caught. */
  uncaught(): void
  /** One call of the store. */
  store(op: string, ms: number, failure: string | null): void
  /** Something that an operator should know of the store. */
  storeProblem(kind: string): void
  /** An answer was given without its session, because what it spoke of could not be made true. */
  detached(): void
  /** What became of events of telemetry. */
  telemetry(fate: 'written' | 'dropped' | 'failed', count: number): void
  /** Keys or configuration were read again. */
  reload(what: 'keys' | 'config', ok: boolean): void
}

/** Read when the metrics are scraped. */
export interface Gauges {
  jobsAdmitted(): number
  bytesAdmitted(): number
  jobsLimit(): number
  bytesLimit(): number
  jobsWaiting(): number
  /** Milliseconds that the whole queue would take the threads, by estimate. */
  waitMs(): number
  threads(): number
  /** 0 to 1. */
  utilization(): number
  connections(): number
  draining(): boolean
  /** `null` where it does not answer. */
  store(): Promise<StoreStats | null>
  /** Calls that wait for the store. */
  storePending(): number
  storeState(): StoreState
  sessions(): SessionUse
}

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const BYTES = [256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216]
const JOBS = [1, 2, 4, 8, 16, 32, 64]
const TOKENS = [16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576]

/**
 * Registers the metrics in a registry of their own, so that two services in one process do not mix.
 */
export function createMetrics(gauges: Gauges): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, prefix: 'haversack_' })

  const histogram = (name: string, help: string, buckets: number[], ...labels: string[]) =>
    createHistogram(registry, { name, help, labels, buckets })
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
  const tokensIn = histogram('haversack_tokens_in', 'Tokens of an encoded input as it came', TOKENS)
  const tokensOut = histogram(
    'haversack_tokens_out',
    'Tokens of an encoded input as it left',
    TOKENS,
  )
  const tokensSaved = counter(
    'haversack_tokens_saved_total',
    'Tokens that encoded inputs were spared, by what spared them',
    ['by'],
  )
  const results = counter('haversack_results_total', 'Encoded results by layer, format and shape', [
    'layer',
    'format',
    'shape',
  ])
  const refusals = counter('haversack_gate_refusals_total', 'Candidates that the gate kept back', [
    'format',
    'reason',
  ])
  const lookAlikes = counter(
    'haversack_look_alikes_total',
    'Places of tool results that look like hints of the service, escaped in what it sent',
    ['op'],
  )
  const errors = counter('haversack_errors_total', 'Failed requests by code', ['code'])
  const lost = counter('haversack_threads_lost_total', 'Worker threads replaced', ['reason'])
  gauge('haversack_admitted_jobs', 'Requests being read, waiting or running', gauges.jobsAdmitted)
  gauge('haversack_admitted_bytes', 'Bytes of their bodies', gauges.bytesAdmitted)
  gauge('haversack_admitted_jobs_limit', 'Most requests at once', gauges.jobsLimit)
  gauge('haversack_admitted_bytes_limit', 'Most bytes of bodies at once', gauges.bytesLimit)
  gauge('haversack_waiting_jobs', 'Jobs that wait for a thread', gauges.jobsWaiting)
  gauge(
    'haversack_queue_wait_seconds',
    'Time that a new job would wait for a thread, by estimate',
    () => gauges.waitMs() / 1000,
  )
  gauge('haversack_workers', 'Worker threads', gauges.threads)
  gauge(
    'haversack_worker_utilization',
    'Share of the threads that worked, mean of about ten seconds',
    gauges.utilization,
  )
  gauge('haversack_connections', 'Open connections of clients', gauges.connections)
  gauge('haversack_draining', '1 once the service has begun to end', () =>
    Number(gauges.draining()),
  )
  registerStoreGauges(registry, gauges)
  registerSessionGauges(registry, gauges.sessions)
  const detached = counter(
    'haversack_answers_apart_total',
    'Answers given without their session, because something could not be kept or was gone',
    [],
  )
  const telemetryEvents = counter(
    'haversack_telemetry_events_total',
    'Events of telemetry: written, dropped because too many waited, failed to be written',
    ['fate'],
  )
  const storeTime = histogram(
    'haversack_store_seconds',
    'Time of a call of the store',
    SECONDS,
    'op',
  )
  const storeFailures = counter(
    'haversack_store_failures_total',
    'Calls of the store that failed',
    ['op', 'reason'],
  )
  const storeProblems = counter(
    'haversack_store_problems_total',
    'Damage, failed writes, lost threads of the store',
    ['kind'],
  )
  const protocolErrors = counter(
    'haversack_protocol_errors_total',
    'Requests refused before they were one: not HTTP, too large a head, too slow',
    ['status'],
  )
  const uncaught = counter(
    'haversack_uncaught_errors_total',
    'Errors that nothing caught; the service ends after the first',
    [],
  )
  const reloads = counter('haversack_reloads_total', 'Times that keys or configuration were read', [
    'what',
    'result',
  ])
  const reloadFailed = new Gauge({
    name: 'haversack_reload_failed',
    help: '1 where the last reading failed, and the one before is in force',
    labelNames: ['what'],
    registers,
  })
  for (const what of ['keys', 'config']) reloadFailed.set({ what }, 0)
  new Gauge({
    name: 'haversack_build_info',
    help: '1, labelled with the version',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version: VERSION, node: process.version }, 1)

  return {
    registry,
    proxy: createProxyMetrics(registry),
    request(route, status, totalMs, bytes) {
      requestTime(totalMs / 1000, route, status)
      if (bytes > 0) bodyBytes(bytes)
    },
    job(op, queueMs, workMs) {
      queueTime(queueMs / 1000, op)
      workTime(workMs / 1000, op)
    },
    report({ layer, format, shape, refusals: refused, ...report }) {
      const escaped = report.look_alikes ?? report.rewrite?.look_alikes ?? 0
      if (escaped > 0) lookAlikes.inc({ op: report.op }, escaped)
      if (layer === undefined || format === undefined || shape === undefined) return
      const { tokens_in = 0, tokens_out = 0, tokens_elided = 0, tokens_referred = 0 } = report
      results.inc({ layer, format, shape })
      tokensIn(tokens_in)
      tokensOut(tokens_out)
      const encoder = Math.max(0, tokens_in - tokens_out - tokens_elided - tokens_referred)
      tokensSaved.inc({ by: 'dedup' }, tokens_referred)
      tokensSaved.inc({ by: 'encoder' }, encoder)
      tokensSaved.inc({ by: 'omission' }, tokens_elided)
      for (const refusal of refused ?? []) refusals.inc({ ...refusal })
    },
    error: code => errors.inc({ code }),
    batch: jobs => batchJobs(jobs),
    threadLost: reason => lost.inc({ reason }),
    store(op, ms, failure) {
      storeTime(ms / 1000, op)
      if (failure !== null) storeFailures.inc({ op, reason: failure })
    },
    detached: () => detached.inc(),
    telemetry: (fate, count) => telemetryEvents.inc({ fate }, count),
    storeProblem: kind => storeProblems.inc({ kind }),
    protocolError: status => protocolErrors.inc({ status }),
    uncaught: () => uncaught.inc(),
    reload(what, ok) {
      reloads.inc({ what, result: ok ? 'ok' : 'failed' })
      reloadFailed.set({ what }, ok ? 0 : 1)
    },
  }
}
