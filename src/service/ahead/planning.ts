import type { Config } from '../../config/config.ts'
import { modelLayers } from '../../config/shipped-models.ts'
import { UNCONFIGURED_PLANNING } from '../../core/enrich/plan.ts'

/** The terms of plans, by the configuration. */
export function planningTerms({ enrichment, tools }: Pick<Config, 'enrichment' | 'tools'>) {
  return {
    layers: modelLayers({ enrichment, tools }),
    budgetTokens: enrichment.prefetch_budget_tokens,
    minProbability: UNCONFIGURED_PLANNING.minProbability,
    isCostAware: enrichment.cost_aware,
  }
}
