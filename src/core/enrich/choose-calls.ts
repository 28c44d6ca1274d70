import { solveMckp } from '../solvers/mckp/mckp.ts'
import { SKIPPED } from '../solvers/mckp/problem.ts'

/** What an option costs and contributes. */
interface Priced {
  /** A whole number. */
  readonly cost_tokens: number
  readonly value: number
}

/** A call that may be made in one of several ways. */
export interface Choosable {
  readonly options: readonly Priced[]
  /** Scales the values of its options; 1 if absent. */
  readonly weight?: number
}

/** A call, and the calls that are possible only together with it. */
export interface ChoiceItem extends Choosable {
  /** At most three, since all combinations are looked at. */
  readonly dependents: readonly Choosable[]
}

/** What is chosen of an item: indices of options, `NONE` for what is left out. */
export interface ItemChoice {
  readonly option: number
  readonly dependents: readonly number[]
}

export interface Choice {
  /** By item. */
  readonly picks: readonly ItemChoice[]
  readonly value: number
  readonly cost_tokens: number
  /** No choice within the budget has a higher value. */
  readonly bound: number
  /** Proven: no choice has a higher value than this one. */
  readonly isExact: boolean
}

export const NONE = -1

/** Up to this many calls are chosen exactly, more by density. */
const MAX_EXACT = 256
/** Work of the exact solver, in states: some milliseconds. */
const MAX_STATES = 200_000

const NO_DEPENDENTS: readonly number[] = []

/** One combination of an item's options and those of its dependents. */
interface Way extends ItemChoice {
  readonly cost: number
  readonly value: number
}

/**
 * The calls with the highest value within a budget: a multiple-choice knapsack whose classes are
 * the calls with what depends on them. Exact up to 256 calls; of more, and if the solver reaches
 * its limit of work, greedily by density or the best single call, whichever is better. That is at
 * least half of the optimum (Sinha and Zoltners 1979; the check of the single call is what the
 * bound needs).
 */
export function chooseCalls(items: readonly ChoiceItem[], budget: number): Choice {
  const ways = items.map(item => waysOf(item, budget))
  const calls = items.reduce((sum, { dependents }) => sum + 1 + dependents.length, 0)
  const greedy = chooseByDensity(ways, budget)
  if (calls > MAX_EXACT || greedy.isExact) return greedy
  const exact = chooseExactly(ways, budget)
  if (exact.value >= greedy.value) return exact
  return { ...greedy, bound: Math.max(greedy.value, Math.min(greedy.bound, exact.bound)) }
}

/** An item's ways that fit, by rising cost; without those that cost more and are worth no more. */
function waysOf({ options, weight = 1, dependents }: ChoiceItem, budget: number): readonly Way[] {
  let ways = options.map(({ cost_tokens, value }, at): Way => {
    return { cost: cost_tokens, value: value * weight, option: at, dependents: NO_DEPENDENTS }
  })
  for (const { options, weight = 1 } of dependents) {
    ways = ways.flatMap(way => [
      { ...way, dependents: [...way.dependents, NONE] },
      ...options.map((option, at): Way => {
        const cost = way.cost + option.cost_tokens
        const value = way.value + option.value * weight
        return { cost, value, option: way.option, dependents: [...way.dependents, at] }
      }),
    ])
    // A call that is worth nothing itself may be what others depend on.
    ways = withoutDominated(ways, budget, Number.NEGATIVE_INFINITY)
  }
  return withoutDominated(ways, budget, 0)
}

function withoutDominated(ways: readonly Way[], budget: number, least: number): Way[] {
  const isSorted = ways.every((way, i) => i === 0 || way.cost > (ways[i - 1]?.cost ?? 0))
  const sorted = isSorted ? ways : ways.toSorted((a, b) => a.cost - b.cost || b.value - a.value)
  let best = least
  return sorted.filter(({ cost, value }) => {
    const isBetter = cost <= budget && value > best
    if (isBetter) best = value
    return isBetter
  })
}

function chooseExactly(classes: readonly (readonly Way[])[], budget: number): Choice {
  const all = classes.flat()
  const starts = new Uint32Array(classes.length + 1)
  classes.forEach((ways, i) => {
    starts[i + 1] = starts[i]! + ways.length
  })
  const solution = solveMckp(
    {
      starts,
      costs: Float64Array.from(all, ({ cost }) => cost),
      values: Float64Array.from(all, ({ value }) => value),
      required: new Uint8Array(classes.length),
      budget,
    },
    { maxStates: MAX_STATES },
  )
  if (!solution.feasible) throw new Error('a problem without required classes is feasible')
  const taken = classes.map((ways, i) => {
    const pick = solution.picks[i]!
    return pick === SKIPPED ? undefined : ways[pick]
  })
  return choiceOf(taken, solution.upperBound, solution.optimal)
}

/** A step from one way of a class to the next one on the hull. */
interface HullStep {
  readonly item: number
  readonly way: Way
  /** Value that the step brings for each token. */
  readonly slope: number
}

function chooseByDensity(classes: readonly (readonly Way[])[], budget: number): Choice {
  const steps = classes.flatMap(hullOf).sort((a, b) => b.slope - a.slope || a.item - b.item)
  const taken: (Way | undefined)[] = classes.map(() => undefined)
  let left = budget
  let value = 0
  let bound: number | undefined
  for (const { item, way, slope } of steps) {
    const current = taken[item]
    const more = way.cost - (current?.cost ?? 0)
    if (more > left) {
      bound ??= value + slope * left
      continue
    }
    left -= more
    value += way.value - (current?.value ?? 0)
    taken[item] = way
  }
  const single = bestSingle(classes)
  const alone = classes.map((_, i) => (i === single?.item ? single.way : undefined))
  const isSingle = single !== undefined && single.way.value > value
  return choiceOf(isSingle ? alone : taken, bound ?? value, bound === undefined)
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

function bestSingle(classes: readonly (readonly Way[])[]) {
  let best: { readonly item: number; readonly way: Way } | undefined
  classes.forEach((ways, item) => {
    const way = ways.at(-1)
    if (way !== undefined && way.value > (best?.way.value ?? 0)) best = { item, way }
  })
  return best
}

function choiceOf(taken: readonly (Way | undefined)[], bound: number, isExact: boolean): Choice {
  const value = taken.reduce((sum, way) => sum + (way?.value ?? 0), 0)
  return {
    picks: taken.map(way => way ?? { option: NONE, dependents: [] }),
    value,
    cost_tokens: taken.reduce((sum, way) => sum + (way?.cost ?? 0), 0),
    bound: Math.max(value, bound),
    isExact,
  }
}
