import type { Config } from '../config/config.ts'

/** The terms of plans, by the configuration. */
export function planningTerms({ enrichment, tools }: Pick<Config, 'enrichment' | 'tools'>) {
  return {
    tools,
    budgetTokens: enrichment.prefetch_budget_tokens,
    minProbability: enrichment.min_probability,
    isCostAware: enrichment.cost_aware,
  }
}
