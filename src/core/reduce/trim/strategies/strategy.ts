import type { ItemFacts } from '../item-facts.ts'

/**
 * The value of a list's parts compared with each other, and what it depends on. A strategy is data:
 * `position` for what is known by its place alone, and what else it goes by.
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

/** Ends of a thread go with it, whatever they cost; what is between them counts less. */
export interface ThreadRule {
  readonly middle: number
}
