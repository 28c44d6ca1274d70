import type { Config } from '../config/config.ts'
import type { Origin } from '../ledger/day-sums.ts'
import { createLedger, type Ledger } from '../ledger/ledger.ts'
import type { Logger } from '../observability/logger.ts'
import type { Metrics } from '../observability/metrics.ts'

/** The ledger that a configuration asks for; `null` if it is off. */
export function openConfiguredLedger(
  { ledger, data_dir, ui, store }: Pick<Config, 'ledger' | 'data_dir' | 'ui' | 'store'>,
  {
    metrics,
    logger,
    onBug,
  }: {
    readonly metrics: Pick<Metrics, 'ledgerDropped'>
    readonly logger: Pick<Logger, 'warn'>
    onBug(error: unknown): void
  },
  /** What is known of a service that has one user. */
  origin: Origin = {},
): Ledger | null {
  if (!ledger.enabled) return null
  const { enabled: _, projects, ...limits } = ledger
  return createLedger({
    folder: data_dir,
    limits,
    origin,
    textKeys: ui.keep_texts === 'on' ? store.encryption_keys : null,
    hasProjects: projects === 'on',
    now: Date.now,
    onUnwritten: detail => logger.warn({ detail }, 'the ledger cannot be written'),
    onDropped: metrics.ledgerDropped,
    onBug,
  })
}
