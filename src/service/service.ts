import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WorkerSetup } from '../../workers/protocol.ts'
import type { Config } from '../config/config.ts'
import { processEnv } from '../config/env.ts'
import { FIXED_LIMITS, type FixedLimits, REWRITE_TTL_MS } from '../config/fixed-limits.ts'
import { legendOf, readPipelineConfig } from '../config/pipeline.ts'
import { createSteadyClock } from '../core/base/steady-clock.ts'
import { createSessionDesk } from '../core/operations/session-desk.ts'
import { MAIN_OWNER } from '../core/sessions/turn/shared-sessions.ts'
import type { Health } from '../http/context.ts'
import { proxyEnvironment, vendorProxyFor } from '../http/proxy/vendor-proxies.ts'
import type { Route } from '../http/routes/route.ts'
import type { HttpServer } from '../http/server.ts'
import { secretReader } from '../mcp/auth/secret-text.ts'
import { createLogger, type Logger } from '../observability/logger.ts'
import type { Metrics } from '../observability/metrics.ts'
import { createUsageObservers } from '../proxy/usage-observer.ts'
import { loadSecret } from '../runtime/secret-file.ts'
import { SECRET_BYTES, serviceSecretFile } from '../runtime/service-proof.ts'
import { storeHealth } from '../store/store-health.ts'
import { createServiceEnrichment, planningTerms } from './ahead.ts'
import { appRecords, gaugesOf, isShared, sharingOf } from './app-deps.ts'
import { createOfferEvents } from './book/offer-events.ts'
import { openRecords } from './book/records.ts'
import { BUILDERS, type Builders } from './builders.ts'
import { startConfig } from './configuration/configurations.ts'
import { tenantsOf } from './keys.ts'
import { openMcp } from './mcp/open.ts'
import { type LiveConfig, type Reloading, serverLimits } from './reload.ts'
import { followNotices } from './replicas/follow-notices.ts'
import { uiSource } from './ui.ts'

/** A running service. */
export interface Service {
  /** Where it listens, for example `http://127.0.0.1:8787`. */
  readonly url: string
  /** Whether it has the page, at `/ui`. */
  readonly hasPage: boolean
  /**
   * Reads keys again. Of the configuration that `load` returns, it applies the settings that can
   * change while the service runs. If either fails, the previous one stays and the log has the
   * reason. Never throws.
   */
  reload(load: () => Config): void
  /** Notes an error that nothing caught: all are counted, the first is logged. */
  noteUncaught(error: unknown): void
  /** From now on the proxies forward everything byte for byte. */
  forwardPlainly(): void
  /**
   * Ends the service. Readiness ends at once, but work is accepted for `limits.drain_grace_ms`.
   * Then accepted work may end within `limits.drain_timeout_ms`, and everything is closed.
   */
  close(): Promise<void>
}

/** Seams for `haversack run`, benches and tests; the service itself uses none. */
export interface ServiceSeams {
  /** Only the vendor proxies and what they saved are offered, below this path: `/` and a secret. */
  readonly proxiesBelow?: string
  readonly workerUrl?: URL
  /** Instead of those that `cache_dir` keeps. */
  readonly vocabularies?: WorkerSetup['vocabularies']
  readonly routes?: readonly Route[]
  readonly logger?: Logger
  /** Instead of those of the same names. */
  readonly limits?: Partial<FixedLimits>
  /** Used instead of those of the same names. */
  readonly builders?: Partial<Builders>
}

/** How long the main thread waits for a session that a worker is using, in milliseconds. */
const LOCK_WAIT_MS = 5

/**
 * How often sessions are closed that were idle for longer than their bodies are kept, in
 * milliseconds.
 */
const IDLE_WATCH_MS = 30_000

/**
 * The composition root: builds every long-lived thing and closes it in reverse order, also if the
 * start fails halfway. Resolves when the workers have answered and the port is open.
 * @throws KeysFileError, ConfigError for keys and a `pipeline_config.toml` that cannot be used
 */
export async function startService(config: Config, seams: ServiceSeams = {}): Promise<Service> {
  const logger = seams.logger ?? createLogger(config.log.level)
  const resources = new AsyncDisposableStack()
  try {
    return serviceOf(await assemble(config, { ...seams, logger }, resources), resources)
  } catch (error) {
    // The reason of the failed start matters more than a failure to close.
    await resources.disposeAsync().catch(err => logger.error({ err }, 'unexpected error'))
    throw error
  }
}

/** The parts by which a running service is controlled. */
interface Running {
  readonly address: AddressInfo
  readonly live: LiveConfig
  readonly reloading: Reloading
  readonly metrics: Metrics
  readonly logger: Logger
}

/** Where things are built: from what, with what, and on which list they are closed. */
interface Site {
  readonly config: Config
  readonly seams: ServiceSeams
  readonly logger: Logger
  readonly build: Builders
  readonly resources: AsyncDisposableStack
}

/**
 * Builds in the reverse order of closing; each thing is put on `resources` as soon as it exists.
 */
async function assemble(
  config: Config,
  seams: ServiceSeams & { readonly logger: Logger },
  resources: AsyncDisposableStack,
): Promise<Running> {
  const { logger } = seams
  const build = { ...BUILDERS, ...seams.builders }
  const site: Site = { config, seams, logger, build, resources }
  const state: State = await openState(site, () => front.server)
  const front: Front = await openFront(site, state)
  drainAtTheEnd(site, state, front)
  const address = await front.server.listen(config.host, config.port)
  await build.warmUp(state.pool)
  const reloading = startWatches(site, state, front)
  state.health.state = 'ready'
  return { address, live: state.live, reloading, metrics: state.reports.metrics, logger }
}

type State = Awaited<ReturnType<typeof openState>>

/**
 * Opens keys, threads, sessions, records, configurations and the pool.
 * @param server the server, which is built later; asked for its gauges only
 */
async function openState(
  { config, seams, logger, build, resources }: Site,
  server: () => Pick<HttpServer, 'connections'>,
) {
  const live: LiveConfig = { config, fixed: { ...FIXED_LIMITS, ...seams.limits } }
  const place = build.layersPlaceOf(config)
  const first = build.readAllLayers(place)
  const onBug = (err: unknown) => logger.error({ err }, 'unexpected error')
  const health = { state: 'starting' as Health['state'], store: () => storeHealth(records.store) }
  // The store is opened later, since it reports to the metrics.
  const rates = config.store.redis === undefined ? undefined : () => records.store.rates
  const keys = await build.openConfiguredKeys(config.keys_file, rates)
  const telemetryKey = await build.telemetryKeyFor(config, { logger })
  const gauges = gaugesOf(live, () => {
    const { store } = records
    return { admission, configurations, pool, server: server(), health, shared, store }
  })
  const metrics: Metrics = build.createMetrics(gauges)
  const reports = { metrics, logger, onBug }
  const shared = build.startConfiguredThreads(config, {
    ...startConfig(first),
    hasTelemetry: telemetryKey !== null,
    envelope: live.fixed.envelope,
    heapMb: live.fixed.heapMb(config.limits.max_body_bytes),
    isShared: isShared(live),
    logger,
    workerUrl: seams.workerUrl,
    vocabularies: seams.vocabularies,
  })
  // The pool closes them earlier, unless the start fails before there is one.
  resources.defer(() => shared.threads.close())
  const sessions = build.attachSessions(shared.sessions, {
    owner: MAIN_OWNER,
    maxWaitMs: LOCK_WAIT_MS,
  })
  const tenants = () => tenantsOf(keys.access)
  const records = await openRecords(live, telemetryKey, { build, reports, resources, tenants })
  const configurations = build.openConfigurations({
    place,
    first,
    logger,
    store: records.store,
    now: Date.now,
    ttlMs: () => REWRITE_TTL_MS,
  })
  resources.defer(() => configurations.close())
  const arms = build.openServiceArms({
    ...reports,
    configurations,
    store: records.store,
    dataDir: config.data_dir,
    start: first,
  })
  resources.defer(() => arms.close())
  const pool = build.createConfiguredPool(live, shared, { ...reports, configurations })
  resources.defer(() => pool.close())
  const admission = build.createConfiguredAdmission(live, pool, keys.access)
  return {
    live,
    keys,
    health,
    gauges,
    reports,
    shared,
    sessions,
    records,
    configurations,
    arms,
    pool,
    admission,
  }
}

type Front = Awaited<ReturnType<typeof openFront>>

/** Builds the vendor proxies, the MCP endpoints, the app and its server. */
async function openFront({ config, seams, logger, build, resources }: Site, state: State) {
  const { live, keys, health, gauges, reports, shared, sessions, records } = state
  const { configurations, arms, pool, admission } = state
  const { metrics, onBug } = reports
  const { proxiesBelow } = seams
  const vendorProxies = build.createVendorProxies(config.proxy, {
    below: proxiesBelow,
    limits: live.fixed.forward,
    env: proxyEnvironment(processEnv()),
    secret: text => secretReader(text, processEnv()),
    onBug,
  })
  resources.defer(async () => {
    await Promise.all(vendorProxies.map(({ forwarder }) => forwarder.close()))
  })
  const memory = build.attachRewriteMemory(shared.rewrites)
  const kept = appRecords(live, records, { memory, arms, generations: configurations })
  const { book } = records
  const offerEvents = book?.hasEvents === true ? createOfferEvents(book) : null
  const enrichment = createServiceEnrichment(live, records.store, offerEvents, reports)
  const deps = { ...kept, pool, metrics, sessions, enrichment }
  const mcp = await openMcp(proxiesBelow !== undefined, config, { deps, env: processEnv(), logger })
  resources.defer(() => mcp.close())
  const legend = legendOf(readPipelineConfig(config))
  const app = await build.createApp(
    {
      ...kept,
      mcp,
      pool,
      admission,
      metrics,
      logger,
      health,
      access: keys.access,
      sessions,
      desk: createSessionDesk(sessions.index),
      vendorProxies,
      ...(proxiesBelow === undefined ? {} : { proxiesBelow }),
      ...ownSecret(logger),
      observeUsage: createUsageObservers(),
      allowedHosts: () => live.config.allowed_hosts,
      maxBodyBytes: config.limits.max_body_bytes,
      planning: () => planningTerms(live.config),
      explainConfig: (of, query) => configurations.explain(of, query),
      ...(legend === undefined ? {} : { legend }),
      enrichment,
      ...(proxiesBelow === undefined ? uiSource(config, gauges, logger) : {}),
      ...sharingOf(live, records.store, sessions),
    },
    seams.routes,
  )
  const server = build.createHttpServer(app, serverLimits(live), {
    refused(status) {
      metrics.protocolError(status)
      logger.info({ status }, 'refused before it was a request')
    },
    isForwarded: target => vendorProxyFor(vendorProxies, target) !== null,
  })
  return { vendorProxies, mcp, server }
}

/** The secret of the user that this service runs for; nothing if there is no place for it. */
function ownSecret(logger: Logger): { readonly secret?: Uint8Array } {
  try {
    return { secret: loadSecret(serviceSecretFile(processEnv()), SECRET_BYTES) }
  } catch (error) {
    const { message } = error as Error
    logger.info({ detail: message }, 'hooks on this machine will not trust this service')
    return {}
  }
}

/** At the end the server takes nothing new and lets accepted work end. */
function drainAtTheEnd({ resources }: Site, { live, health }: State, front: Front): void {
  const { server, vendorProxies, mcp } = front
  // A start that failed has accepted no work, so there is nothing to wait for.
  const drainMs = () => (health.state === 'draining' ? live.config.limits.drain_timeout_ms : 0)
  resources.defer(() => server.drain(drainMs()))
  resources.defer(() => {
    for (const { forwarder } of vendorProxies) forwarder.drain(drainMs())
  })
  resources.defer(() => mcp.drain())
}

/** Starts what runs beside requests: reloading, watching keys, closing idle sessions, tuning. */
function startWatches(
  { config, build, resources }: Site,
  { live, configurations, keys, sessions, health, reports, records }: State,
  { server, mcp }: Front,
): Reloading {
  const reloading = build.createReloading({ live, configurations, keys, server, mcp, ...reports })
  resources.defer(() => sleep(live.config.limits.drain_grace_ms))
  const steadyNow = createSteadyClock({ wall: Date.now, stopwatch: () => performance.now() })
  const idleWatch = setInterval(() => {
    sessions.index.closeIdle(steadyNow() - live.config.store.original_ttl_ms)
  }, IDLE_WATCH_MS)
  resources.defer(() => clearInterval(idleWatch))
  const notices = followNotices(config, { ...records, keys, ...reports })
  resources.defer(() => notices.close())
  keys.file?.watch.begin(reloading.readKeys)
  resources.defer(() => keys.file?.watch.close())
  const tuning = build.openAutoTune({
    mode: () => live.config.tune.auto,
    providers: () => Object.keys(live.config.fingerprints.providers),
    place: build.layersPlaceOf(config),
    configurations,
    logger: reports.logger,
    now: Date.now,
  })
  resources.defer(() => tuning.close())
  resources.defer(() => {
    health.state = 'draining'
  })
  return reloading
}

function serviceOf(
  { address, live, reloading, metrics, logger }: Running,
  resources: AsyncDisposableStack,
): Service {
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  let isUncaughtLogged = false
  let closing: Promise<void> | undefined
  return {
    url: `http://${host}:${address.port}`,
    hasPage: live.config.ledger.enabled,
    reload(load) {
      reloading.readKeys()
      reloading.readConfig(load)
    },
    noteUncaught(err) {
      metrics.uncaught()
      if (!isUncaughtLogged) logger.fatal({ err }, 'an error that nothing caught')
      isUncaughtLogged = true
    },
    forwardPlainly() {
      live.config = { ...live.config, compression: { enabled: false, tenants: {} } }
    },
    close() {
      closing ??= resources.disposeAsync()
      return closing
    },
  }
}
