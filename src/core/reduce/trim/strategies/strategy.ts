/**
 * Facts about an item that strategies use, for all kinds of content. Facts that the content does
 * not state are absent.
 */
export interface ItemFacts {
  /** Tokens of the whole item, about. */
  readonly tokens: number
  /** Path of the file that it is about. */
  readonly path?: string
  /** Whether a discussion is settled. */
  readonly resolved?: boolean
  /** When it last changed, in Unix milliseconds. */
  readonly date?: number
  /** Number of comments, reactions and votes. */
  readonly activity?: number
  /** Whether it reports an error. */
  readonly isError?: boolean
}

/**
 * The value of a list's parts compared with each other, and what it depends on. A strategy is data:
 * a factor by place, and further rules.
 */
export interface Strategy {
  /** Factor for the part `index` of `count`; above 0, at most 1. */
  factor(index: number, count: number): number
  /**
   * Factors of the items of a list by their facts, each above 0; by `factor` if absent. Both are by
   * document order.
   */
  weigh?(items: readonly ItemFacts[]): readonly number[]
  /** Whether an item's value is in proportion to its length. */
  readonly bySize?: true
  /** The value of a thread's comments in it. */
  readonly thread?: ThreadRule
}

/** The ends of a thread are kept with it, whatever they cost. Comments between them count less. */
export interface ThreadRule {
  readonly middle: number
}

/**
 * The factor of each item's value by a strategy, in order, if the value does not depend on the
 * item's size yet.
 */
export function weighItems(strategy: Strategy, items: readonly ItemFacts[]): readonly number[] {
  const factors = weighPlaces(strategy, items)
  if (strategy.bySize !== true) return factors
  const tokens = items.reduce((sum, item) => sum + item.tokens, 0)
  const mean = Math.max(1, tokens / items.length)
  return factors.map((factor, index) => (factor * items[index]!.tokens) / mean)
}

/** The value of an error in times that of any other item: it is left out last. */
const ERROR_BOOST = 128

/** The factors if an item's value grows with its size by itself. */
export function weighPlaces(strategy: Strategy, items: readonly ItemFacts[]): readonly number[] {
  const factors =
    strategy.weigh?.(items) ?? items.map((_, index) => strategy.factor(index, items.length))
  return factors.map((factor, index) =>
    items[index]!.isError === true ? ERROR_BOOST * (1 + factor) : factor,
  )
}
