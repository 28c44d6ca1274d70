import { LOCAL } from '../../access/access.ts'
import {
  type BudgetMark,
  type BudgetState,
  type Budgets,
  createBudgets,
} from '../../book/bill/budgets.ts'
import { turnOf } from '../../book/bill/request-row.ts'
import type { Savings } from '../../book/bill/savings.ts'
import type { Book } from '../../book/book.ts'
import { processEnv } from '../../config/env.ts'
import { priceList } from '../../config/prices.ts'
import type { Fingerprints } from '../../fingerprints/fingerprints.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { Tracing } from '../../observability/tracing.ts'
import type { Store } from '../../store/store.ts'
import type { Builders } from '../builders.ts'
import type { LiveConfig } from '../reload.ts'

/** Everything of a service that keeps or sends records of what it does. */
export interface Records {
  readonly store: Store
  readonly savings: Savings
  readonly budgets: Budgets
  readonly fingerprints: Fingerprints
  /** `null` if they are off. */
  readonly book: Book | null
  readonly tracing: Tracing | null
}

const LOSS = 'longer lives of caches cost a key more than they brought: none is bought for it now'

export interface RecordsOptions {
  readonly build: Builders
  readonly reports: {
    readonly metrics: Metrics
    readonly logger: Logger
    onBug(error: unknown): void
  }
  /** The tenants that keys have. */
  tenants(): readonly string[]
  /** Gets each part as soon as it exists. */
  readonly resources: AsyncDisposableStack
}

export async function openRecords(
  live: LiveConfig,
  telemetryKey: Uint8Array | null,
  { build, reports, resources, tenants }: RecordsOptions,
): Promise<Records> {
  const { metrics, logger, onBug } = reports
  const { config } = live
  // Tracing is closed last, because spans of the last requests wait in it.
  const tracing = await build.startConfiguredTracing(processEnv())
  resources.defer(() => tracing?.close())
  const store = await build.openServiceStore(config, reports)
  resources.defer(() => store.close())
  const book = build.openConfiguredBook(config, { key: telemetryKey }, reports)
  resources.defer(() => book?.close())
  const budgets = openBudgets(live, store, reports)
  resources.defer(() => budgets.close())
  const savings = build.createSavings({
    store,
    prices: () => priceList(live.config.savings),
    now: Date.now,
    onRow(row) {
      const { tenant, account } = row
      if (account.requests > 0) metrics.proxy.account(row.vendor, account)
      // The next service of ours counts what was passed on to it.
      if (row.isPassedOn !== true) {
        const isNamed = live.config.budgets.some(each => each.tenant === tenant)
        if (isNamed) metrics.tenants.account(tenant, account)
        budgets.spend(tenant, account.money.billed)
      }
      const turn = turnOf(row)
      if (turn !== null) book?.turn(turn)
    },
    onUnsaved: detail => logger.warn({ detail }, 'the accounts of the proxies cannot be written'),
    onLoss: tenant => logger.warn({ tenant }, LOSS),
    onBug,
  })
  resources.defer(() => savings.close())
  // Without keys there is one tenant, of which the first request knows already: `haversack run` has
  // one conversation in each process.
  savings.agentTools(LOCAL.tenant)
  savings.advice(LOCAL.tenant, LOCAL.keyId)
  const published = () => live.config.fingerprints
  const fingerprints = build.openConfiguredFingerprints(config, published, {
    store,
    logger,
    tenants,
    key: telemetryKey,
    intervalMs: live.fixed.fingerprintsMs,
  })
  resources.defer(() => fingerprints.close())
  return { store, savings, budgets, fingerprints, book, tracing }
}

/** How long a webhook may take. */
const TIMEOUT_MS = 5_000

/** The budgets that a configuration has. */
function openBudgets(
  live: Pick<LiveConfig, 'config'>,
  store: Pick<Store, 'readRecord' | 'writeRecord'>,
  {
    metrics,
    logger,
    onBug,
  }: {
    readonly metrics: Pick<Metrics, 'tenants'>
    readonly logger: Pick<Logger, 'warn'>
    onBug(error: unknown): void
  },
): Budgets {
  return createBudgets({
    store,
    budgets: () => live.config.budgets,
    now: Date.now,
    onState: metrics.tenants.budget,
    onMark(state, mark) {
      const { webhook, ...said } = { ...state, share: mark, currency: live.config.savings.currency }
      logger.warn(said, `a budget is used to ${mark * 100} %`)
      if (webhook !== undefined) void tell(webhook, said, logger)
    },
    onUnsaved: detail => logger.warn({ detail }, 'what tenants spend cannot be written'),
    onBug,
  })
}

/** Never rejects. The address itself may be a secret, so the log has its host only. */
async function tell(
  url: string,
  said: Omit<BudgetState, 'webhook'> & { readonly share: BudgetMark; readonly currency: string },
  logger: Pick<Logger, 'warn'>,
): Promise<void> {
  const { host } = new URL(url)
  try {
    const { ok, status, body } = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(said),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    await body?.cancel()
    if (!ok) logger.warn({ host, status }, 'a webhook of a budget refused')
  } catch (error) {
    logger.warn({ host, reason: (error as Error).name }, 'a webhook of a budget does not answer')
  }
}
