import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { WorkerSetup } from '../../workers/protocol.ts'
import { createAccess } from '../access/access.ts'
import { readKeysFile } from '../access/keys-file.ts'
import { watchFile } from '../access/watch-file.ts'
import type { Config } from '../config/config.ts'
import { readPipelineConfig } from '../config/pipeline.ts'
import { attachRewriteMemory } from '../core/conversation/rewrite/rewrite-memory.ts'
import { createSessionDesk } from '../core/operations/session-desk.ts'
import { indexUse } from '../core/sessions/index/owners.ts'
import { attachSessions, MAIN_OWNER } from '../core/sessions/turn/shared-sessions.ts'
import { createApp } from '../http/app.ts'
import type { Health } from '../http/context.ts'
import { createDropIns, dropInFor } from '../http/proxy/vendor-proxies.ts'
import type { Route } from '../http/routes/route.ts'
import { createHttpServer, type ServerLimits } from '../http/server.ts'
import { createLogger, type Logger } from '../observability/logger.ts'
import { createMetrics, type Metrics } from '../observability/metrics.ts'
import { createAdmission } from '../pool/admission.ts'
import type { Authority } from '../pool/job.ts'
import { createPool, type WorkerPool } from '../pool/pool.ts'
import { createUsageObservers } from '../proxy/usage-observer.ts'
import { createSavings } from '../savings/savings.ts'
import { openLateStore } from '../store/late-store.ts'
import { observed } from '../store/observed.ts'
import { createOriginals, type Lifetimes } from '../store/originals.ts'
import { createRewrites } from '../store/rewrites.ts'
import type { Store, StoreEvent } from '../store/store.ts'
import { statsOf, storeHealth } from '../store/store-health.ts'
import { openConfiguredFingerprints } from './fingerprints.ts'
import { reloaded } from './reload.ts'
import { openConfiguredStore } from './store.ts'
import { openConfiguredTelemetry, telemetryKeyFor } from './telemetry.ts'
import { startConfiguredThreads } from './threads.ts'

/** A running service. */
export interface Service {
  /** Where it listens, for example `http://127.0.0.1:8787`. */
  readonly url: string
  /**
   * Reads keys again, and puts what `load` gives in force as far as that can change while it runs.
   * Where either fails, the one before stays and the log says why; never throws.
   */
  reload(load: () => Config): void
  /** Notes an error that nothing caught: all are counted, the first is logged. */
  noteUncaught(error: unknown): void
  /** From now on the proxies forward everything byte for byte. */
  forwardPlainly(): void
  /**
   * Is not ready any more, takes work for `limits.drain_grace_ms` all the same, then lets accepted
   * work end within `limits.drain_timeout_ms` and closes everything.
   */
  close(): Promise<void>
}

/** Seams for `haversack run`, benches and tests; the service itself uses none. */
export interface ServiceSeams {
  /** Nothing is offered but the drop-in proxies, below this path: `/` and a secret. */
  readonly proxiesBelow?: string
  readonly workerUrl?: URL
  /** Instead of those that `cache_dir` keeps. */
  readonly vocabularies?: WorkerSetup['vocabularies']
  readonly routes?: readonly Route[]
  readonly authority?: Authority
  readonly logger?: Logger
  readonly createMetrics?: typeof createMetrics
}

/**
 * The composition root: builds every long-lived thing and closes it in reverse order. Resolves when
 * the workers have answered and the port is open.
 * @throws KeysFileError, ConfigError for keys and a `pipeline_config.toml` that cannot be used
 */
export async function startService(config: Config, seams: ServiceSeams = {}): Promise<Service> {
  let live = config
  let isUncaughtLogged = false
  const pipeline = readPipelineConfig(config)
  const logger = seams.logger ?? createLogger(config.log.level)
  const onBug = (err: unknown) => logger.error({ err }, 'unexpected error')
  const health = {
    state: 'starting' as Health['state'],
    store: () => storeHealth(store),
  }
  const { limits, workers, keys_file } = config
  const keysWatch = keys_file === undefined ? null : await watchFile(keys_file)
  const records = keys_file === undefined ? null : readKeysFile(keys_file)
  const access = createAccess(records, () => performance.now())
  const telemetryKey = telemetryKeyFor(config)
  const shared = startConfiguredThreads(config, {
    pipeline,
    telemetryKey,
    hasAuthority: seams.authority !== undefined,
    logger,
    workerUrl: seams.workerUrl,
    vocabularies: seams.vocabularies,
  })
  const sessions = attachSessions(shared.sessions, { owner: MAIN_OWNER, maxWaitMs: LOCK_WAIT_MS })
  const admission = createAdmission({
    limits: () => ({
      maxJobs: live.limits.max_queue_jobs,
      maxBytes: live.limits.max_queue_bytes,
      maxWaitMs: live.limits.max_queue_wait_ms,
    }),
    waitMs: job => pool.waitMs(job),
    tenants: () => access.tenants,
  })
  const metrics: Metrics = (seams.createMetrics ?? createMetrics)({
    jobsAdmitted: () => admission.jobs,
    bytesAdmitted: () => admission.bytes,
    jobsLimit: () => live.limits.max_queue_jobs,
    bytesLimit: () => live.limits.max_queue_bytes,
    jobsWaiting: () => pool.waiting,
    waitMs: () => pool.waitMs(),
    threads: () => workers.count,
    utilization: () => pool.utilization,
    connections: () => server.connections,
    draining: () => health.state === 'draining',
    store: () => statsOf(store),
    storePending: () => store.load.pending,
    storeState: () => store.load.state,
    sessions: () => indexUse(shared.sessions.index),
  })
  const pool: WorkerPool = createPool({
    threads: shared.threads,
    progress: shared.progress,
    width: workers.count,
    limits: () => ({
      jobTimeoutMs: live.limits.job_timeout_ms,
      queueTimeoutMs: queueTimeoutMs(live.limits),
      maxWaitMs: live.limits.max_queue_wait_ms,
    }),
    onBug: (requestId, bug) => logger.error({ requestId, bug }, 'unexpected error in a worker'),
    onBatch: metrics.batch,
    onThreadLost(reason) {
      metrics.threadLost(reason)
      logger.warn({ reason }, 'a worker thread was replaced')
    },
  })
  const store = observed(await openStore(), metrics.store)
  const originals = createOriginals(store, tenant => lifetimesOf(live.store, tenant), Date.now)
  const fingerprints = openConfiguredFingerprints(config, () => live.fingerprints.publish, {
    store,
    logger,
  })
  const tracing = await loadTracing(config.traces)
  const savings = createSavings({
    store,
    prices: () => live.savings,
    now: Date.now,
    onEntry: ({ vendor, account }) => metrics.proxy.account(vendor, account),
    onUnsaved: detail => logger.warn({ detail }, 'the accounts of the proxies cannot be written'),
    onBug,
  })
  const telemetry = openConfiguredTelemetry(config, telemetryKey, { metrics, logger })
  const dropIns = createDropIns(config.proxy, { below: seams.proxiesBelow, onBug })
  const app = createApp(
    {
      pool,
      admission,
      metrics,
      logger,
      health,
      access,
      originals,
      sessions,
      desk: createSessionDesk(sessions.index),
      dropIns,
      proxiesOnly: seams.proxiesBelow !== undefined,
      rewriting: {
        maxBytes: config.proxy.max_rewrite_bytes,
        timeoutMs: config.proxy.rewrite_timeout_ms,
        rewrites: createRewrites(store, () => live.proxy.rewrite_ttl_ms),
        memory: attachRewriteMemory(shared.rewrites),
        isOn: () => live.compression.enabled,
        declinesWebSockets: () => live.proxy.responses_websockets === 'decline',
      },
      savings,
      observeUsage: createUsageObservers(),
      allowedHosts: () => live.allowed_hosts,
      maxBodyBytes: limits.max_body_bytes,
      ...(tracing === null ? {} : { tracing }),
      ...(telemetry === null ? {} : { telemetry }),
      fingerprints,
      ...(seams.authority === undefined ? {} : { authority: seams.authority }),
    },
    seams.routes,
  )
  const server = createHttpServer(app, serverLimits(limits), {
    refused(status) {
      metrics.protocolError(status)
      logger.info({ status }, 'refused before it was a request')
    },
    isForwarded: target => dropInFor(dropIns, target) !== null,
  })
  const address = await open()
  keysWatch?.begin(reloadKeys)
  const idleWatch = setInterval(() => {
    sessions.index.closeIdle(Date.now() - live.store.session_ttl_ms)
  }, IDLE_WATCH_MS)
  health.state = 'ready'

  /**
   * Opens the port and waits for the workers' first answer; leaves nothing running where one fails.
   */
  async function open(): Promise<AddressInfo> {
    try {
      const listening = server.listen(config.host, config.port)
      return (await Promise.all([listening, warmUp(pool)]))[0]
    } catch (error) {
      await Promise.all([
        server.drain(0),
        pool.close(),
        tracing?.close(),
        telemetry?.close(),
        fingerprints.close(),
        savings.close(),
        store.close(),
      ])
      throw error
    }
  }

  function openStore(): Promise<Store> {
    const onEvent = (event: StoreEvent) => {
      metrics.storeProblem(event.kind)
      logger.warn(event, 'the store')
    }
    return openLateStore({
      open: () => openConfiguredStore(config, onEvent),
      onUnavailable(detail) {
        metrics.storeProblem('unavailable')
        logger.error({ detail }, 'the store cannot be opened; nothing is kept meanwhile')
      },
      retryMs: STORE_RETRY_MS,
    })
  }

  function reloadKeys(): void {
    if (keys_file === undefined) return
    attempt('keys', () => {
      const keys = readKeysFile(keys_file)
      access.replace(keys)
      return { keys: keys.length, tenants: access.tenants }
    })
  }

  function reloadConfig(load: () => Config): void {
    attempt('config', () => {
      const { config: next, waiting } = reloaded(live, load())
      const isTuned = !isDeepStrictEqual(readPipelineConfig(next), pipeline)
      live = next
      logger.level = next.log.level
      server.apply(serverLimits(next.limits))
      return { needs_restart: isTuned ? [...waiting, 'pipeline_config.toml'] : waiting }
    })
  }

  function attempt(what: 'keys' | 'config', read: () => object): void {
    try {
      logger.info(read(), `${what} read again`)
      metrics.reload(what, true)
    } catch (error) {
      logger.error({ err: error }, `${what} not read; the ones before stay in force`)
      metrics.reload(what, false)
    }
  }

  return {
    url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    reload(load) {
      reloadKeys()
      reloadConfig(load)
    },
    noteUncaught(err) {
      metrics.uncaught()
      if (!isUncaughtLogged) logger.fatal({ err }, 'an error that nothing caught')
      isUncaughtLogged = true
    },
    forwardPlainly() {
      live = { ...live, compression: { enabled: false } }
    },
    async close() {
      health.state = 'draining'
      keysWatch?.close()
      clearInterval(idleWatch)
      await sleep(live.limits.drain_grace_ms)
      await server.drain(live.limits.drain_timeout_ms)
      await Promise.all(dropIns.map(({ forwarder }) => forwarder.close()))
      await pool.close()
      await telemetry?.close()
      await fingerprints.close()
      await savings.close()
      await store.close()
      await tracing?.close()
    },
  }
}

function lifetimesOf(settings: Config['store'], tenant: string): Lifetimes {
  const own = Object.hasOwn(settings.tenants, tenant) ? settings.tenants[tenant] : undefined
  return {
    originalMs: own?.original_ttl_ms ?? settings.original_ttl_ms,
    sessionMs: own?.session_ttl_ms ?? settings.session_ttl_ms,
  }
}

/** How long the main thread waits for a session that a worker is at, in milliseconds. */
const LOCK_WAIT_MS = 5

/**
 * How often sessions are closed that were idle for longer than their bodies are kept, in
 * milliseconds.
 */
const IDLE_WATCH_MS = 30_000

/** How often a store that cannot be opened is tried again, in milliseconds. */
const STORE_RETRY_MS = 15_000

/** Loaded only where traces are on: the packages behind it take longer to load than all others. */
async function loadTracing({ endpoint, sample_ratio }: Config['traces']) {
  if (endpoint === undefined) return null
  const { startTracing } = await import('../observability/tracing.ts')
  return startTracing(endpoint, sample_ratio)
}

function serverLimits(limits: Config['limits']): ServerLimits {
  return {
    maxConnections: limits.max_connections,
    headerTimeoutMs: limits.header_timeout_ms,
    requestTimeoutMs: limits.request_timeout_ms,
    idleTimeoutMs: limits.idle_timeout_ms,
    // Longer than any job may wait and take.
    silenceTimeoutMs: queueTimeoutMs(limits) + limits.job_timeout_ms,
  }
}

/** Longer than one job may run: a queue behind stuck threads outlives their replacement. */
function queueTimeoutMs(limits: Config['limits']): number {
  return limits.job_timeout_ms + limits.request_timeout_ms
}

/** One job through a thread, so that readiness means that workers answer. */
async function warmUp(pool: WorkerPool): Promise<void> {
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
