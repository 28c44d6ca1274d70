import { existsSync } from 'node:fs'
import { Book } from '../../book/book.ts'
import { telemetryFolder } from '../../book/events/layout.ts'
import type { Origin } from '../../book/rows/day-sums.ts'
import type { Config } from '../../config/config.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'

const LEDGER = {
  /** Results, and requests of the proxies, of each tenant. */
  max_rows: 100_000,
  /** The size of the file. */
  max_bytes: 256 * 1024 * 1024,
  ttl_ms: 7 * 86_400_000,
  /** How long sums of days are kept, which `haversack gain` shows. */
  days: 400,
} as const

const EVENTS = {
  /** From this size on a session continues in another file. */
  rotate_bytes: 8 * 1024 * 1024,
  /** The size of all files together; the oldest go first. */
  max_bytes: 1024 * 1024 * 1024,
  event_ttl_ms: 30 * 86_400_000,
  summary_ttl_ms: 90 * 86_400_000,
  /** A session ends when nothing came for so long. */
  idle_ms: 1_800_000,
} as const

type BookConfig = Pick<Config, 'ledger' | 'telemetry' | 'data_dir' | 'ui' | 'store'>

interface BookTerms {
  /** The key of telemetry; `null`: it is off. */
  readonly key: Uint8Array | null
  /** Where the ledger is, if not in the data folder. */
  readonly folder?: string
  /** What is known of a service that has one user. */
  readonly origin?: Origin
}

interface BookReports {
  readonly metrics: Pick<Metrics, 'ledgerDropped' | 'telemetry'>
  readonly logger: Pick<Logger, 'warn'>
  onBug(error: unknown): void
}

/** The book that a configuration asks for; `null`: it has neither ledger nor telemetry. */
export function openConfiguredBook(
  { ledger, telemetry, data_dir, ui, store }: BookConfig,
  { key, folder = data_dir, origin = {} }: BookTerms,
  { metrics, logger, onBug }: BookReports,
): Book | null {
  const events = telemetryFolder(data_dir)
  // If telemetry is off, the files that it wrote before are still deleted in time.
  const hasEvents = key !== null || existsSync(events)
  if (!ledger.enabled && !hasEvents) return null
  const settings = { ...EVENTS, ...telemetry }
  return new Book({
    folder,
    limits: ledger.enabled ? LEDGER : null,
    events: hasEvents ? { folder: events, key, settings } : null,
    origin,
    textKeys: ui.keep_texts === 'on' ? store.encryption_keys : null,
    now: Date.now,
    onUnwritten: detail => logger.warn({ detail }, 'the ledger cannot be written'),
    onDropped: metrics.ledgerDropped,
    onEvents: metrics.telemetry,
    onProblem: err => logger.warn({ err }, 'telemetry cannot be written'),
    onBug,
  })
}
