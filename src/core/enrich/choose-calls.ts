/** What an option costs and contributes. */
interface Priced {
  /** A whole number. */
  readonly cost_tokens: number
  readonly value: number
}

/** A call that may be made in one of several ways. */
interface Choosable {
  readonly options: readonly Priced[]
  /** Scales the values of its options; 1 if absent. */
  readonly probability?: number
}

/** A call, and the calls that are possible only together with it. */
export interface ChoiceItem extends Choosable {
  /** At most three, since all combinations are looked at. */
  readonly dependents: readonly Choosable[]
}

export interface Choice {
  /** By item, indices of options: its own, then one a dependent, or `NONE`. Empty: left out. */
  readonly picks: readonly (readonly number[])[]
  readonly value: number
  readonly cost_tokens: number
  /** No choice within the budget has a higher value. */
  readonly bound: number
}

const NONE = -1

/** One combination of an item's options and those of its dependents. */
interface Way {
  readonly options: readonly number[]
  readonly cost: number
  readonly value: number
}

/**
 * Calls of much value within a budget, by falling value for a token (SOURCES.md#planner, "Knapsack
 * algorithm"), or the best single call if that is worth more. At least half of the optimum (Sinha
 * and Zoltners 1979); the check of the single call is what the bound needs.
 */
export function chooseCalls(items: readonly ChoiceItem[], budget: number): Choice {
  const classes = items.map(item => waysOf(item, budget))
  const steps = classes.flatMap(hullOf).sort((a, b) => b.slope - a.slope || a.item - b.item)
  const taken: (Way | undefined)[] = classes.map(() => undefined)
  let left = budget
  let value = 0
  let bound: number | undefined
  for (const { item, way, slope } of steps) {
    const more = way.cost - (taken[item]?.cost ?? 0)
    if (more > left) {
      bound ??= value + slope * left
      continue
    }
    left -= more
    value += way.value - (taken[item]?.value ?? 0)
    taken[item] = way
  }
  bound ??= value
  const best = classes.reduce((most, ways) => Math.max(most, ways.at(-1)?.value ?? 0), 0)
  if (best <= value) return choiceOf(taken, bound)
  const single = classes.findIndex(ways => ways.at(-1)?.value === best)
  return choiceOf(
    classes.map((ways, item) => (item === single ? ways.at(-1) : undefined)),
    bound,
  )
}

/** An item's ways that fit, by rising cost; without those that cost more and are worth no more. */
function waysOf({ dependents, ...item }: ChoiceItem, budget: number): readonly Way[] {
  let ways = withOption({ options: [], cost: 0, value: 0 }, item)
  for (const dependent of dependents) {
    ways = ways.flatMap(way => [
      { ...way, options: [...way.options, NONE] },
      ...withOption(way, dependent),
    ])
    // A call that is worth nothing itself may be what others depend on.
    ways = withoutDominated(ways, budget, Number.NEGATIVE_INFINITY)
  }
  return withoutDominated(ways, budget, 0)
}

/** A way with each of the options of one more call. */
function withOption(way: Way, { options, probability = 1 }: Choosable): Way[] {
  return options.map(({ cost_tokens, value }, at) => ({
    options: [...way.options, at],
    cost: way.cost + cost_tokens,
    value: way.value + value * probability,
  }))
}

function withoutDominated(ways: readonly Way[], budget: number, least: number): Way[] {
  let best = least
  return ways
    .toSorted((a, b) => a.cost - b.cost || b.value - a.value)
    .filter(({ cost, value }) => {
      const isBetter = cost <= budget && value > best
      if (isBetter) best = value
      return isBetter
    })
}

/** A step from one way of a class to the next one on the hull. */
interface HullStep {
  readonly item: number
  readonly way: Way
  /** Value that the step brings for each token. */
  readonly slope: number
}

/** The steps along a class's upper convex hull, from nothing on, by falling slope. */
function hullOf(ways: readonly Way[], item: number): readonly HullStep[] {
  const hull: HullStep[] = []
  for (const way of ways) {
    for (;;) {
      const before = hull.at(-1)
      const slope = (way.value - (before?.way.value ?? 0)) / (way.cost - (before?.way.cost ?? 0))
      if (before === undefined || slope < before.slope) {
        hull.push({ item, way, slope })
        break
      }
      hull.pop()
    }
  }
  return hull
}

function choiceOf(taken: readonly (Way | undefined)[], bound: number): Choice {
  const sum = (of: 'cost' | 'value') => taken.reduce((total, way) => total + (way?.[of] ?? 0), 0)
  const value = sum('value')
  const picks = taken.map(way => way?.options ?? [])
  return { picks, value, cost_tokens: sum('cost'), bound: Math.max(value, bound) }
}
