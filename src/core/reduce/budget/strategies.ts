import type { Value } from '../../json/value.ts'
import {
  cascading,
  elementCount,
  equal,
  headTail,
  leading,
  trailing,
  uniform,
} from '../trim/strategies/position.ts'
import { priority } from '../trim/strategies/priority.ts'
import { sizeProportional } from '../trim/strategies/size-proportional.ts'
import type { Strategy } from '../trim/strategies/strategy.ts'
import { threadLevel } from '../trim/strategies/thread-level.ts'

/**
 * Strategies by the name that a request or the configuration gives. Field weights say how much the
 * kinds of content count, a strategy how much items do beside one another: by their place, and by
 * what is known of them.
 */
export const STRATEGIES = {
  equal,
  leading,
  trailing,
  head_tail: headTail,
  element_count: elementCount,
  cascading,
  size_proportional: sizeProportional,
  thread_level: threadLevel,
  priority,
  default: uniform,
} as const satisfies Record<string, Strategy>

export type StrategyId = keyof typeof STRATEGIES

export const STRATEGY_IDS = Object.keys(STRATEGIES) as [StrategyId, ...StrategyId[]]

/** What is worth how much. */
export interface Worths {
  readonly strategy: Strategy
  /** Worth of a field by its key; 1 where it is not named. 0: omitted first. */
  readonly fields: ReadonlyMap<string, number>
  /**
   * Factors for what the content itself says of its parts: lines of a text, items of a list of the
   * value.
   */
  readonly line?: (index: number) => number
  readonly item?: (list: readonly Value[], index: number) => number
}
