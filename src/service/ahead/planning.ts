import type { Config } from '../../config/config.ts'
import { modelLayers } from '../../config/shipped-models.ts'

/** The terms of plans, by the configuration. */
export function planningTerms({ enrichment, tools }: Pick<Config, 'enrichment' | 'tools'>) {
  return {
    layers: modelLayers({ enrichment, tools }),
    budgetTokens: enrichment.prefetch_budget_tokens,
    minProbability: enrichment.min_probability,
    isCostAware: enrichment.cost_aware,
  }
}
