import { createAccess } from '../../src/access/access.ts'
import { emptyArms } from '../../src/book/arms/tenant-arms.ts'
import { emptyBill } from '../../src/book/bill/tenant-bill.ts'
import { priceList } from '../../src/config/prices.ts'
import { AppError } from '../../src/core/base/errors.ts'
import { createSessionDesk } from '../../src/core/operations/session-desk.ts'
import { attachIndex } from '../../src/core/sessions/index/attach.ts'
import { createIndexMemory } from '../../src/core/sessions/index/layout.ts'
import { createApp } from '../../src/http/app.ts'
import type { AppDeps } from '../../src/http/context.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import { createAdmission } from '../../src/pool/admission.ts'
import { WorkerPool } from '../../src/pool/pool.ts'
import { createProgress } from '../../src/pool/slots.ts'
import { createUsageObservers } from '../../src/proxy/usage-observer.ts'
import { inlineThreads } from './runner.ts'

/** The originals of a store that is empty and full at once. */
const NOTHING_KEPT: AppDeps['originals'] = {
  keep: () => Promise.reject(new AppError('overloaded', 'no room', { retry_after_s: 30 })),
  renew: async () => 'stay',
  pinDependency: () => Promise.reject(new AppError('not_found', 'nothing is kept')),
  forget: async () => {},
  fetch: () => Promise.reject(new AppError('not_found', 'nothing is kept')),
  noteFetch: () => {},
  fetchPart: () => Promise.reject(new AppError('not_found', 'nothing is kept')),
}

/** Memory for a few sessions. */
const FEW = { maxSessions: 64, maxEntries: 256 }

/** A line that the service logged. */
export interface Logged {
  readonly level: string
  readonly fields: object
  readonly message: string
}

/** The app without a port and without threads: jobs run in this one. */
export function testApp(overrides: Partial<AppDeps> = {}) {
  const logged: Logged[] = []
  const log =
    (level: string) =>
    (fields: object, message = '') =>
      logged.push({ level, fields, message })
  const threads = inlineThreads()
  const admission = createAdmission({
    limits: () => ({ maxJobs: 10, maxBytes: 1_000_000, maxWaitMs: 60_000 }),
    waitMs: () => 0,
    tenants: () => 1,
  })
  const pool = new WorkerPool({
    threads,
    progress: createProgress(1),
    limits: () => ({ jobTimeoutMs: 60_000, queueTimeoutMs: 60_000, maxWaitMs: 60_000 }),
    onBug: (requestId, bug) => logged.push({ level: 'error', fields: { requestId }, message: bug }),
    onThreadLost: () => {},
  })
  const logger = Object.fromEntries(
    ['debug', 'info', 'warn', 'error', 'fatal'].map(level => [level, log(level)]),
  ) as unknown as AppDeps['logger']
  const deps: AppDeps = {
    pool,
    admission,
    logger,
    metrics: createMetrics({
      jobsAdmitted: () => admission.jobs,
      bytesAdmitted: () => admission.bytes,
      jobsLimit: () => 10,
      bytesLimit: () => 1_000_000,
      jobsWaiting: () => pool.waiting,
      waitMs: () => pool.waitMs(),
      threads: () => 1,
      utilization: () => pool.utilization,
      connections: () => 0,
      draining: () => false,
      configStale: () => false,
      store: async () => null,
      storePending: () => 0,
      storeState: () => 'open',
      storeShared: () => null,
      sessions: () => ({ sessions: 0, entries: 0, evicted: 0 }),
    }),
    access: createAccess(null, () => 0),
    originals: NOTHING_KEPT,
    desk: createSessionDesk(attachIndex(createIndexMemory(FEW), { owner: 1 })),
    health: { state: 'ready', store: async () => 'open' },
    explainConfig: async () => ({ generation: '0'.repeat(16), faults: [], keys: [] }),
    arms: {
      read: async () => emptyArms(0),
      settings: () => ({ holdout: 0, explore: 0 }),
    },
    savings: {
      record: async () => {},
      recordResults: async () => {},
      advice: () => undefined,
      agentTools: () => undefined,
      noteRefusedTools: () => {},
      noteRefused: () => {},
      read: async () => emptyBill(0),
      prices: () => priceList({ currency: 'USD', prices: [] }),
    },
    budgets: { read: async () => [] },
    observeUsage: createUsageObservers(),
    allowedHosts: () => ['haversack.internal'],
    maxBodyBytes: 100_000,
    ...overrides,
  }
  const app = createApp(deps)
  const post = (
    path: string,
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ) =>
    app.request(path, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    })
  return { app, deps, logged, post, admission }
}
