import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname } from 'node:path'
import { createAdaptorServer } from '@hono/node-server'
import type { Config } from './config/config.ts'
import { createApp } from './http/app.ts'
import type { Health } from './http/context.ts'
import { answerProtocolErrors } from './http/protocol-errors.ts'
import type { Route } from './http/routes/route.ts'
import { createLogger, type Logger } from './logger.ts'
import { createMetrics } from './metrics.ts'
import { createAdmission } from './pool/admission.ts'
import type { Authority } from './pool/job.ts'
import { createPool, type WorkerPool } from './pool/pool.ts'
import { createProgress } from './pool/slots.ts'
import { createThreads } from './pool/threads.ts'
import { loadVocabularies } from './vocabulary.ts'

/** A running service. */
export interface Service {
  /** Where it listens, for example `http://127.0.0.1:8787`. */
  readonly url: string
  /** Stops taking work, lets accepted work end within `limits.drain_timeout_ms`, closes everything. */
  close(): Promise<void>
}

/** Seams for benches and tests; the service itself uses none. */
export interface ServiceSeams {
  readonly workerUrl?: URL
  readonly routes?: readonly Route[]
  readonly authority?: Authority
  readonly logger?: Logger
}

/**
 * The composition root: builds every long-lived thing and closes it in reverse order. Resolves when the
 * workers have answered and the port is open.
 */
export async function startService(config: Config, seams: ServiceSeams = {}): Promise<Service> {
  const logger = seams.logger ?? createLogger(config.log.level)
  const health = { state: 'starting' as Health['state'] }
  const { limits, workers } = config
  const progress = createProgress(workers.count)
  const threads = createThreads({
    size: workers.count,
    workerUrl: seams.workerUrl ?? workerModule('tasks'),
    heapMb: workers.heap_mb,
    onCrash: error => logger.error({ err: error }, 'a worker thread died'),
    setup: {
      vocabularies: loadVocabularies({ cacheDir: config.cache_dir }),
      progress,
      limits: {
        envelope: { maxDepth: limits.envelope_depth, maxValues: limits.envelope_values },
        contentDepth: limits.content_depth,
        decodedChars: limits.max_body_bytes,
      },
    },
  })
  const admission = createAdmission({
    maxJobs: limits.max_queue_jobs,
    maxBytes: limits.max_queue_bytes,
  })
  const metrics = createMetrics({
    jobsAdmitted: () => admission.jobs,
    bytesAdmitted: () => admission.bytes,
    jobsWaiting: () => pool.waiting,
  })
  const pool = createPool({
    threads,
    progress,
    jobTimeoutMs: limits.job_timeout_ms,
    queueTimeoutMs: queueTimeoutMs(limits),
    onBug: (requestId, bug) => logger.error({ requestId, bug }, 'unexpected error in a worker'),
    onBatch: metrics.batch,
    onThreadLost(reason) {
      metrics.threadLost(reason)
      logger.warn({ reason }, 'a worker thread was replaced')
    },
  })
  const app = createApp(
    {
      pool,
      admission,
      metrics,
      logger,
      health,
      allowedHosts: [config.host, ...config.allowed_hosts],
      maxBodyBytes: limits.max_body_bytes,
      ...(seams.authority === undefined ? {} : { authority: seams.authority }),
    },
    seams.routes,
  )
  // A request without Host (HTTP/1.0, plain probes) counts as one for localhost.
  const server = createAdaptorServer({ fetch: app.fetch, hostname: 'localhost' }) as Server
  answerProtocolErrors(server)
  server.requestTimeout = limits.request_timeout_ms
  // Also ends connections whose client does not read its answer; longer than any job may wait and take.
  server.setTimeout(queueTimeoutMs(limits) + limits.job_timeout_ms)
  const address = await start(server, pool, config)
  health.state = 'ready'

  return {
    url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    async close() {
      health.state = 'draining'
      await drain(server, limits.drain_timeout_ms)
      await pool.close()
    },
  }
}

/** Opens the port and waits for the workers' first answer; leaves nothing running where one fails. */
async function start(server: Server, pool: WorkerPool, config: Config): Promise<AddressInfo> {
  try {
    const [address] = await Promise.all([listen(server, config), warmUp(pool)])
    return address
  } catch (error) {
    server.close()
    await pool.close()
    throw error
  }
}

/** Longer than one job may run: a queue behind stuck threads outlives their replacement. */
function queueTimeoutMs(limits: Config['limits']): number {
  return limits.job_timeout_ms + limits.request_timeout_ms
}

/** A module of `workers/`: TypeScript here, JavaScript in the published package. */
function workerModule(name: string): URL {
  return new URL(`../workers/${name}${extname(import.meta.url)}`, import.meta.url)
}

/** One job through a thread, so that readiness means that workers answer. */
async function warmUp(pool: WorkerPool): Promise<void> {
  const body = Buffer.from(JSON.stringify({ content: '[{"a":1},{"a":2}]' }))
  const result = await pool.run({
    op: 'encode',
    media: 'json',
    accept: 'json',
    body,
    requestId: 'warm-up',
  })
  if (!result.ok) throw new Error(`the workers do not answer: ${result.problem.detail}`)
}

function listen(server: Server, { host, port }: Config): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve(server.address() as AddressInfo)
    })
  })
}

/** How often connections that fell idle are closed while draining, in milliseconds. */
const IDLE_SWEEP_MS = 25

/**
 * Takes no new connection, and closes each when its answer is out: clients that keep connections alive
 * would hold up the end otherwise. At the deadline all are closed.
 */
function drain(server: Server, deadlineMs: number): Promise<void> {
  return new Promise(resolve => {
    const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS)
    const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs)
    server.close(() => {
      clearInterval(sweep)
      clearTimeout(deadline)
      resolve()
    })
  })
}
