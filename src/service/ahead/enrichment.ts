import {
  Enrichment,
  type EnrichmentObserver,
  type EnrichmentSettings,
} from '../../ahead/enrichment.ts'
import { Habits } from '../../ahead/habits.ts'
import type { LandedResult } from '../../mcp/ahead/enrichment-needs.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { Store } from '../../store/store.ts'
import type { LiveConfig } from '../reload.ts'
import { planningTerms } from './planning.ts'

/** What all clients of the process share of calls that are made ahead. */
export function createServiceEnrichment(
  live: LiveConfig,
  store: Pick<Store, 'readRecord' | 'writeRecord'>,
  events: EnrichmentObserver | null,
  { metrics, logger }: { readonly metrics: Metrics; readonly logger: Pick<Logger, 'warn'> },
): Enrichment<LandedResult> {
  const { max_parallel_prefetches, respect_rate_limits } = live.config.enrichment
  return new Enrichment<LandedResult>({
    settings: () => settingsOf(live.config),
    maxParallel: max_parallel_prefetches,
    respectsRateLimits: respect_rate_limits,
    habits: new Habits({
      store,
      now: Date.now,
      onUnsaved: detail => logger.warn({ detail }, 'what agents call next cannot be written'),
    }),
    observer(event) {
      metrics.enrichment(event)
      events?.(event)
    },
    now: () => performance.now(),
  })
}

function settingsOf(config: LiveConfig['config']): EnrichmentSettings {
  const { enabled, prefetch_timeout_ms } = config.enrichment
  return {
    ...planningTerms(config),
    isEnabled: enabled,
    announceMs: prefetch_timeout_ms,
  }
}
