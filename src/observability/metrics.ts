import { collectDefaultMetrics, Registry } from 'prom-client'
import type { EnrichmentObserver } from '../ahead/enrichment.ts'
import type { LostReason } from '../pool/pool-options.ts'
import { createEnrichmentMetrics } from './enrichment-metrics.ts'
import { createMcpMetrics, type McpMetrics } from './mcp-metrics.ts'
import {
  createOperationMetrics,
  createResultMetrics,
  type OperationMetrics,
  type ResultMetrics,
} from './operation-metrics.ts'
import {
  createProcessMetrics,
  type ProcessMetrics,
  registerSessionGauges,
  type SessionUse,
} from './process-metrics.ts'
import { createProxyMetrics, type ProxyMetrics } from './proxy-metrics.ts'
import { type Register, registerIn } from './register.ts'
import {
  createStoreMetrics,
  registerStoreGauges,
  type StoreGauges,
  type StoreMetrics,
} from './store-metrics.ts'
import {
  type ArmsMetrics,
  createArmsMetrics,
  createTenantMetrics,
  type TenantMetrics,
} from './tenant-metrics.ts'

/**
 * Everything that `GET /metrics` shows. Label values come from fixed sets only, never from clients;
 * names of tenants only if the configuration lets them.
 */
export interface Metrics extends OperationMetrics, ResultMetrics, StoreMetrics, ProcessMetrics {
  readonly registry: Registry
  readonly proxy: ProxyMetrics
  readonly arms: ArmsMetrics
  readonly tenants: TenantMetrics
  readonly enrichment: EnrichmentObserver
  readonly mcp: McpMetrics
  error(code: string): void
  threadLost(reason: LostReason): void
  /** An answer was given without its session, because its references could not be made true. */
  detached(): void
  /** Events of telemetry, by their fate. */
  telemetry(fate: 'written' | 'dropped' | 'failed', count: number): void
  /** Rows of the ledger that were lost: too many waited, or it could not be written. */
  ledgerDropped(count: number): void
}

/** Read when the metrics are scraped. */
export interface Gauges extends StoreGauges {
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
  /** Whether a file of the pipeline's configuration has a fault. */
  configStale(): boolean
  sessions(): SessionUse
}

/**
 * Registers the metrics in a registry of their own, so that two services in one process do not mix.
 * They are shown in the order in which they are registered.
 */
export function createMetrics(gauges: Gauges): Metrics {
  const registry = new Registry()
  const register = registerIn(registry)
  collectDefaultMetrics({ register: registry, prefix: 'haversack_' })
  const operations = createOperationMetrics(register)
  const results = createResultMetrics(register)
  const errors = register.counter('haversack_errors_total', 'Failed requests by code', ['code'])
  const lost = register.counter('haversack_threads_lost_total', 'Worker threads replaced', [
    'reason',
  ])
  registerGauges(register, gauges)
  registerStoreGauges(registry, gauges)
  registerSessionGauges(registry, gauges.sessions)
  const detached = register.counter(
    'haversack_answers_apart_total',
    'Answers given without their session, because something could not be kept or was gone',
    [],
  )
  const telemetryEvents = register.counter(
    'haversack_telemetry_events_total',
    'Events of telemetry: written, dropped because too many waited, failed to be written',
    ['fate'],
  )
  const dropped = register.counter(
    'haversack_ledger_dropped_total',
    'Rows of the ledger that were lost: too many waited, or it could not be written',
    [],
  )
  return {
    registry,
    ...operations,
    ...results,
    error: code => errors.inc({ code }),
    threadLost: reason => lost.inc({ reason }),
    detached: () => detached.inc(),
    telemetry: (fate, count) => telemetryEvents.inc({ fate }, count),
    ledgerDropped: count => dropped.inc(count),
    ...createStoreMetrics(register),
    ...createProcessMetrics(register),
    proxy: createProxyMetrics(registry),
    arms: createArmsMetrics(register),
    tenants: createTenantMetrics(register),
    enrichment: createEnrichmentMetrics(register),
    mcp: createMcpMetrics(register),
  }
}

/** What is measured at each scrape. */
function registerGauges({ gauge }: Register, gauges: Gauges): void {
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
  gauge(
    'haversack_config_stale',
    '1 while a file of the configuration has a fault, and what was before is in force',
    () => Number(gauges.configStale()),
  )
  gauge('haversack_draining', '1 once the service has begun to end', () =>
    Number(gauges.draining()),
  )
}
