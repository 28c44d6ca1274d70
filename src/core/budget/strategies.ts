/**
 * What parts of a list are worth beside one another. Field weights say how much the kinds of content count, a
 * strategy how much position does.
 */
export interface Strategy {
  /** Factor for the part `index` of `count`; above 0, at most 1. */
  factor(index: number, count: number): number
}

/** Least and most that position counts where it should decide between parts that are alike otherwise. */
const TIE = 0.1
const CLEAR = 0.7

function falling(share: number): Strategy {
  return { factor: (index, count) => 1 - (share * index) / count }
}

function rising(share: number): Strategy {
  return { factor: (index, count) => 1 - (share * (count - 1 - index)) / count }
}

/**
 * Strategies by the name that a request or the configuration gives. `equal`: each part the same, the earlier one before
 * its like. `leading`, `trailing`: the beginning or the end matters most, as for results sorted by relevance, and
 * for logs. `head_tail`: both ends.
 */
export const STRATEGIES = {
  equal: falling(TIE),
  leading: falling(CLEAR),
  trailing: rising(CLEAR),
  head_tail: {
    factor: (index, count) =>
      1 - CLEAR * (1 - Math.abs((2 * index + 1) / count - 1)) - (TIE * TIE * index) / count,
  },
} as const satisfies Record<string, Strategy>

export type StrategyId = keyof typeof STRATEGIES

export const STRATEGY_IDS = Object.keys(STRATEGIES) as [StrategyId, ...StrategyId[]]

/** What is worth how much. */
export interface Worths {
  readonly strategy: Strategy
  /** Worth of a field by its key; 1 where it is not named. 0: omitted first. */
  readonly fields: ReadonlyMap<string, number>
}
