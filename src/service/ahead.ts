import { Enrichment, type EnrichmentObserver } from '../ahead/enrichment.ts'
import { Habits } from '../ahead/habits.ts'
import type { Config } from '../config/config.ts'
import { modelLayers } from '../config/shipped-models.ts'
import { UNCONFIGURED_PLANNING } from '../core/enrich/plan.ts'
import type { LandedResult } from '../mcp/ahead/offer-reader.ts'
import type { Logger } from '../observability/logger.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Store } from '../store/store.ts'
import type { LiveConfig } from './reload.ts'

/** The terms of plans, by the configuration. */
export function planningTerms({ enrichment, tools }: Pick<Config, 'enrichment' | 'tools'>) {
  return {
    layers: modelLayers({ enrichment, tools }),
    budgetTokens: enrichment.prefetch_budget_tokens,
    minProbability: UNCONFIGURED_PLANNING.minProbability,
    isCostAware: enrichment.cost_aware,
  }
}

/** What all clients of the process share of calls that are made ahead. */
export function createServiceEnrichment(
  live: LiveConfig,
  store: Pick<Store, 'readRecord' | 'writeRecord'>,
  events: EnrichmentObserver | null,
  { metrics, logger }: { readonly metrics: Metrics; readonly logger: Pick<Logger, 'warn'> },
): Enrichment<LandedResult> {
  const { max_parallel_prefetches, respect_rate_limits } = live.config.enrichment
  return new Enrichment<LandedResult>({
    settings: () => ({
      ...planningTerms(live.config),
      isEnabled: live.config.enrichment.enabled,
      announceMs: live.config.enrichment.prefetch_timeout_ms,
    }),
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
