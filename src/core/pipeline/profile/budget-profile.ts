import { STRATEGIES, type StrategyId, type Worths } from '../../reduce/budget/strategies.ts'
import { strategyFor } from '../../reduce/trim/resolve-strategy.ts'
import type { TrimAlgorithm } from '../../solvers/tree/trim-tree.ts'
import { own } from './own.ts'
import type { PipelineConfig } from './pipeline-config.ts'

/**
 * The section `budget` for a tool: the value of its parts. Fields that the tool names win one by
 * one.
 */
export function budgetFor(
  { budget, format_pipeline, endpoint_overrides }: PipelineConfig,
  tool: string | undefined,
): BudgetProfile {
  const override = own(endpoint_overrides, tool)
  return {
    strategy:
      override?.strategy ?? strategyFor(tool, format_pipeline.strategies) ?? budget.strategy,
    algorithm: format_pipeline.algorithm,
    fields: new Map([
      ...Object.entries(budget.field_values),
      ...Object.entries(override?.field_values ?? {}),
    ]),
  }
}

/** What is kept first of a tool's results if not all of it fits a budget. */
export interface BudgetProfile {
  readonly strategy: StrategyId
  /** How a list of items is trimmed. */
  readonly algorithm: TrimAlgorithm | 'auto'
  /** Value of a field by its key, from 0; 1 if it is not named. */
  readonly fields: ReadonlyMap<string, number>
}

/** The value of parts for one request, whose own strategy wins. */
export function worthsOf({ strategy, fields }: BudgetProfile, requested?: StrategyId): Worths {
  return { strategy: STRATEGIES[requested ?? strategy], fields }
}
