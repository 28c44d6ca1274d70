import type { Arms } from '../book/arms/arms.ts'
import { compressionOf } from '../config/compression.ts'
import { REWRITE_TTL_MS } from '../config/fixed-limits.ts'
import { builtInPrices } from '../config/prices.ts'
import { redisTimes } from '../config/redis.ts'
import { cacheLivesOf } from '../core/conversation/usage/billing.ts'
import type { VendorName } from '../core/dialects/lookup.ts'
import { indexUse } from '../core/sessions/index/owners.ts'
import type { Sessions, SharedSessions } from '../core/sessions/turn/shared-sessions.ts'
import type { AppDeps, Health, Rewriting } from '../http/context.ts'
import type { HttpServer } from '../http/server.ts'
import type { Gauges } from '../observability/metrics.ts'
import type { Admission } from '../pool/admission.ts'
import type { WorkerPool } from '../pool/pool.ts'
import { type Lifetimes, StoredOriginals } from '../store/originals.ts'
import { createRewrites, type Rewrites } from '../store/sharing/rewrites.ts'
import { SessionSharing } from '../store/sharing/session-sharing.ts'
import { createSharedRewrites } from '../store/sharing/shared-rewrites.ts'
import type { Store } from '../store/store.ts'
import { statsOf } from '../store/store-health.ts'
import type { Records } from './book/records.ts'
import type { Configurations } from './configuration/configurations.ts'
import { type LiveConfig, queueBytes } from './reload.ts'

/** The parts of the app that keep data in the store and in files beside it. */
export function appRecords(
  live: LiveConfig,
  { store, savings, budgets, fingerprints, book, tracing }: Records,
  shared: Pick<Rewriting, 'memory' | 'generations'> & { readonly arms: Arms },
) {
  return {
    originals: new StoredOriginals(
      store,
      () => lifetimesOf(live),
      Date.now,
      fetched => book?.fetched(fetched),
    ),
    rewriting: rewritingOf(live, rewritesOf(live, store, shared.memory), shared),
    arms: shared.arms,
    savings,
    budgets,
    fingerprints,
    ...(book === null ? {} : { book }),
    ...(book?.hasLedger === true ? { ledger: book } : {}),
    ...(tracing === null ? {} : { tracing }),
  } satisfies Partial<AppDeps>
}

/** The record of what proxies have sent. */
function rewritesOf(live: LiveConfig, store: Store, memory: Rewriting['memory']): Rewrites {
  const ttlMs = () => REWRITE_TTL_MS
  const { redis } = live.config.store
  if (redis === undefined) return createRewrites(store, ttlMs)
  const times = redisTimes(redis.call_timeout_ms)
  return createSharedRewrites({
    store,
    ttlMs,
    waitMs: times.recordMs,
    outageMs: times.outageMs,
    onOverruled(key, bytes) {
      const position = memory.place(key, bytes, true)
      if (position !== null) memory.confirm(position)
    },
  })
}

/** Whether other processes have the same store. */
export function isShared({ config }: LiveConfig): boolean {
  return config.store.redis !== undefined
}

/** The sessions of a store that other processes have too. */
export function sharingOf(live: LiveConfig, store: Store, sessions: Sessions) {
  if (!isShared(live)) return {}
  const ttlMs = () => lifetimesOf(live).sessionMs
  return { sharing: new SessionSharing({ store, sessions, ttlMs, now: Date.now }) }
}

/** How long originals and sessions are kept. */
function lifetimesOf({ config }: LiveConfig): Lifetimes {
  const { original_ttl_ms } = config.store
  return { originalMs: original_ttl_ms, sessionMs: original_ttl_ms }
}

function rewritingOf(
  live: LiveConfig,
  rewrites: Rewrites,
  shared: Pick<Rewriting, 'memory' | 'generations' | 'arms'>,
): Rewriting {
  const { clearing, rewriteBytes } = live.fixed
  return {
    maxBytes: rewriteBytes,
    timeoutMs: live.config.proxy.rewrite_timeout_ms,
    ...(clearing && { clearing }),
    cacheLives: createCacheLives(),
    rewrites,
    ...shared,
    isOn: tenant => compressionOf(live.config.compression, tenant) !== false,
    addsTool: () => live.config.proxy.redeem === 'auto',
  }
}

/** The lives of each vendor's caches, found once: to read the prices takes 20 ms. */
function createCacheLives(): NonNullable<Rewriting['cacheLives']> {
  const lives = new Map<VendorName, ReturnType<typeof cacheLivesOf>>()
  return vendor => {
    const known = lives.get(vendor) ?? cacheLivesOf(vendor, builtInPrices())
    lives.set(vendor, known)
    return known
  }
}

/**
 * The sources of the gauges. Most of them are made after the metrics, because they report to the
 * metrics.
 */
interface Measured {
  readonly admission: Pick<Admission, 'jobs' | 'bytes'>
  readonly pool: Pick<WorkerPool, 'waiting' | 'waitMs' | 'utilization'>
  readonly server: Pick<HttpServer, 'connections'>
  readonly configurations: Pick<Configurations, 'isStale' | 'load'>
  readonly store: Store
  readonly health: Pick<Health, 'state'>
  readonly shared: { readonly sessions: SharedSessions }
}

/** @param measured called at each reading, never before the service is ready */
export function gaugesOf(live: LiveConfig, measured: () => Measured): Gauges {
  return {
    jobsAdmitted: () => measured().admission.jobs,
    bytesAdmitted: () => measured().admission.bytes,
    jobsLimit: () => live.fixed.queueJobs,
    bytesLimit: () => queueBytes(live),
    jobsWaiting: () => measured().pool.waiting,
    waitMs: () => measured().pool.waitMs(),
    threads: () => live.config.workers.count,
    utilization: () => measured().pool.utilization,
    connections: () => measured().server.connections,
    draining: () => measured().health.state === 'draining',
    configStale: () => measured().configurations.isStale,
    store: () => statsOf(measured().store),
    storePending: () => measured().store.load.pending,
    storeState: () => measured().store.load.state,
    storeShared: () => measured().store.load.shared ?? null,
    sessions: () => indexUse(measured().shared.sessions.index),
  }
}
