import type { ItemFacts } from './item-facts.ts'
import type { Strategy } from './strategies/strategy.ts'

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

/** The factors if an item's value grows with its size by itself. */
export function weighPlaces(strategy: Strategy, items: readonly ItemFacts[]): readonly number[] {
  return strategy.weigh?.(items) ?? items.map((_, index) => strategy.factor(index, items.length))
}
