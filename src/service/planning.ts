import type { Config } from '../config/config.ts'
import { minedModelsOf } from '../config/mined-models.ts'

/** The terms of plans, by the configuration. */
export function planningTerms({ enrichment, tools }: Pick<Config, 'enrichment' | 'tools'>) {
  return {
    tools,
    mined: minedModelsOf({ enrichment }),
    budgetTokens: enrichment.prefetch_budget_tokens,
    minProbability: enrichment.min_probability,
    isCostAware: enrichment.cost_aware,
  }
}
