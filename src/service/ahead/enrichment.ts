import {
  Enrichment,
  type EnrichmentObserver,
  type EnrichmentSettings,
} from '../../ahead/enrichment.ts'
import { Habits } from '../../ahead/habits.ts'
import { modelLayers } from '../../config/shipped-models.ts'
import type { LandedResult } from '../../mcp/ahead/enrichment-needs.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { Store } from '../../store/store.ts'
import type { createOfferEvents } from '../book/offer-events.ts'
import type { LiveConfig } from '../reload.ts'

/** What all clients of the process share of calls that are made ahead. */
export function createServiceEnrichment(
  live: LiveConfig,
  store: Pick<Store, 'readRecord' | 'writeRecord'>,
  events: ReturnType<typeof createOfferEvents> | null,
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
    observer: events === null ? metrics.enrichment : both(metrics.enrichment, events),
    now: () => performance.now(),
  })
}

/** Tells metrics, and what writes events. */
export function both(
  metrics: EnrichmentObserver,
  events: ReturnType<typeof createOfferEvents>,
): EnrichmentObserver {
  return {
    fetch(event) {
      metrics.fetch(event)
      events.fetch(event)
    },
    declined(reasons, owner) {
      metrics.declined(reasons, owner)
      events.declined(reasons, owner)
    },
    decided(offer, where) {
      metrics.decided(offer, where)
      events.decided(offer, where)
    },
    predicted: (predicted, actual) => metrics.predicted(predicted, actual),
    refused(owner) {
      metrics.refused(owner)
      events.refused(owner)
    },
    unchanged(owner) {
      metrics.unchanged(owner)
      events.unchanged(owner)
    },
  }
}

function settingsOf({ enrichment, tools }: LiveConfig['config']): EnrichmentSettings {
  return {
    layers: modelLayers({ enrichment, tools }),
    isEnabled: enrichment.enabled,
    minProbability: enrichment.min_probability,
    budgetTokens: enrichment.prefetch_budget_tokens,
    isCostAware: enrichment.cost_aware,
    announces: enrichment.announce,
    announceMs: enrichment.prefetch_timeout_ms,
  }
}
