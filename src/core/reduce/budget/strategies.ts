import type { Value } from '../../json/value.ts'
import {
  cascading,
  elementCount,
  equal,
  headTail,
  leading,
  sizeProportional,
  threadLevel,
  trailing,
  uniform,
} from '../trim/strategies/position.ts'
import { priority } from '../trim/strategies/priority.ts'
import type { Strategy } from '../trim/strategies/strategy.ts'

/**
 * Strategies by the name in a request or the configuration. Field weights set how much the kinds of
 * content count. A strategy sets how much items count compared with each other: by their place, and
 * by what is known of them.
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

/** The factors that decide the value of parts. */
export interface Valuation {
  readonly strategy: Strategy
  /** Value of a field by its key; 1 if it is not named. 0: omitted first. */
  readonly fields: ReadonlyMap<string, number>
  /** Factors that follow from the content itself: for lines of a text, and for items of a list. */
  readonly line?: (index: number) => number
  readonly item?: (list: readonly Value[], index: number) => number
  /** Lines, and items of lists, that are kept before all others as far as they fit. */
  readonly firstLines?: readonly number[]
  readonly firstItems?: ReadonlyMap<readonly Value[], readonly number[]>
}
