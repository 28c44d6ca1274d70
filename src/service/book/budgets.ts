import {
  type BudgetMark,
  type BudgetState,
  type Budgets,
  createBudgets,
} from '../../book/bill/budgets.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { Store } from '../../store/store.ts'
import type { LiveConfig } from '../reload.ts'

/** How long a webhook may take. */
const TIMEOUT_MS = 5_000

/** The budgets that a configuration has. */
export function openBudgets(
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
