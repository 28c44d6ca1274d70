import type { ItemFacts, Strategy } from './strategy.ts'

/** The weights of place, activity and recency. */
const SHARES = { position: 0.4, activity: 0.35, recency: 0.25 } as const
const DAY_MS = 86_400_000
/** Days in which recency falls to a half. */
const HALF_DAYS = 30

/**
 * Issues and merge requests: 0.40 by place, 0.35 by activity, 0.25 by recency, 1/(1 + days/30)
 * before the newest date of the list. Activity and recency are scaled to 0…1 over the list; if an
 * item does not state them, its place counts instead.
 */
export const priority: Strategy = {
  factor: byPlace,
  weigh(items) {
    const activity = scaled(items, item => item.activity)
    const newest = items.reduce((last, { date = -Infinity }) => Math.max(last, date), -Infinity)
    const recency = scaled(items, ({ date }) =>
      date === undefined ? undefined : 1 / (1 + (newest - date) / DAY_MS / HALF_DAYS),
    )
    return items.map((_, index) => {
      const place = byPlace(index, items.length)
      return (
        SHARES.position * place +
        SHARES.activity * (activity[index] ?? place) +
        SHARES.recency * (recency[index] ?? place)
      )
    })
  },
}

function byPlace(index: number, count: number): number {
  return 1 - index / count
}

/**
 * Scaled to 0…1 over the items that state it. If all state the same it distinguishes none, and
 * place counts.
 */
function scaled(
  items: readonly ItemFacts[],
  read: (item: ItemFacts) => number | undefined,
): readonly (number | undefined)[] {
  const numbers = items.map(read)
  let least = Infinity
  let most = -Infinity
  for (const each of numbers) {
    if (each === undefined) continue
    least = Math.min(least, each)
    most = Math.max(most, each)
  }
  if (!(most > least)) return numbers.map(() => undefined)
  return numbers.map(each => (each === undefined ? undefined : (each - least) / (most - least)))
}
