import { compressionOf } from '../config/compression.ts'
import type { Logger } from '../observability/logger.ts'
import type { Metrics } from '../observability/metrics.ts'
import { type Admission, createAdmission } from '../pool/admission.ts'
import { WorkerPool } from '../pool/pool.ts'
import type { Configurations } from './configuration/configurations.ts'
import { type LiveConfig, queueBytes, queueTimeoutMs } from './reload.ts'
import type { ConfiguredThreads } from './threads.ts'

/** The pool over the worker threads, with the limits in force. */
export function createConfiguredPool(
  live: LiveConfig,
  { threads, progress }: Pick<ConfiguredThreads, 'threads' | 'progress'>,
  {
    configurations,
    metrics,
    logger,
  }: {
    readonly configurations: Pick<Configurations, 'newest'>
    readonly metrics: Pick<Metrics, 'batch' | 'fault' | 'threadLost'>
    readonly logger: Pick<Logger, 'error' | 'warn'>
  },
): WorkerPool {
  /** Formats whose fault was logged: each is logged once. */
  const faulty = new Set<string>()
  return new WorkerPool({
    threads,
    progress,
    width: live.config.workers.count,
    limits: () => ({
      jobTimeoutMs: live.config.limits.job_timeout_ms,
      queueTimeoutMs: queueTimeoutMs(live),
      maxWaitMs: live.config.limits.max_queue_wait_ms,
    }),
    termsOf(tenant, project) {
      const generation = configurations.newest(tenant, project)
      const isPaused = compressionOf(live.config.compression, tenant) !== true
      return { ...(generation && { generation }), ...(isPaused && { isPaused }) }
    },
    onBug: (requestId, bug) => logger.error({ requestId, bug }, 'unexpected error in a worker'),
    onFault(requestId, { format, trace }) {
      metrics.fault(format)
      if (faulty.has(format)) return
      faulty.add(format)
      logger.error({ requestId, format, trace }, 'a format threw; its candidates are declined')
    },
    onBatch: metrics.batch,
    onThreadLost(reason) {
      metrics.threadLost(reason)
      logger.warn({ reason }, 'a worker thread was replaced')
    },
  })
}

/** The admission to that pool. */
export function createConfiguredAdmission(
  live: LiveConfig,
  pool: Pick<WorkerPool, 'waitMs'>,
  access: { readonly tenants: number },
): Admission {
  return createAdmission({
    limits: () => ({
      maxJobs: live.fixed.queueJobs,
      maxBytes: queueBytes(live),
      maxWaitMs: live.config.limits.max_queue_wait_ms,
    }),
    waitMs: job => pool.waitMs(job),
    tenants: () => access.tenants,
  })
}

/** Runs one job on a thread, so that readiness means that workers answer. */
export async function warmUp(pool: Pick<WorkerPool, 'run'>): Promise<void> {
  const body = Buffer.from(JSON.stringify({ content: '[{"a":1},{"a":2}]' }))
  const result = await pool.run({
    op: 'encode',
    tenant: '',
    media: 'json',
    accept: 'json',
    body,
    requestId: 'warm-up',
  })
  if (!result.ok) throw new Error(`the workers do not answer: ${result.problem.detail}`)
}
