import type { ItemFacts } from './item-facts.ts'
import type { Strategy } from './strategies/strategy.ts'

/**
 * The factor of each item's value by a strategy, in order, where an item's size says nothing of its
 * value yet.
 */
export function weighItems(strategy: Strategy, items: readonly ItemFacts[]): readonly number[] {
  const factors = weighPlaces(strategy, items)
  if (strategy.bySize !== true) return factors
  const tokens = items.reduce((sum, item) => sum + item.tokens, 0)
  const mean = Math.max(1, tokens / items.length)
  return factors.map((factor, index) => (factor * items[index]!.tokens) / mean)
}

/** The same where what an item is worth grows with its size by itself. */
export function weighPlaces(strategy: Strategy, items: readonly ItemFacts[]): readonly number[] {
  return strategy.weigh?.(items) ?? items.map((_, index) => strategy.factor(index, items.length))
}
