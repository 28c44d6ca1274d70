import type { Origin } from '../../book/rows/day-sums.ts'
import { createLedger, type Ledger } from '../../book/rows/ledger.ts'
import type { Config } from '../../config/config.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'

const FIXED = {
  /** Results, and requests of the proxies, of each tenant. */
  max_rows: 100_000,
  /** How long sums of days are kept, which `haversack gain` shows. */
  days: 400,
} as const

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
  const { max_bytes, ttl_ms, projects } = ledger
  return createLedger({
    folder: data_dir,
    limits: { ...FIXED, max_bytes, ttl_ms },
    origin,
    textKeys: ui.keep_texts === 'on' ? store.encryption_keys : null,
    hasProjects: projects === 'on',
    now: Date.now,
    onUnwritten: detail => logger.warn({ detail }, 'the ledger cannot be written'),
    onDropped: metrics.ledgerDropped,
    onBug,
  })
}
