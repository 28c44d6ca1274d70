import type { History } from '../shared/history.ts'
import type { Incumbent } from '../shared/incumbent.ts'
import {
  AS_BEFORE,
  createStates,
  mergeRuns,
  reserve,
  type States,
  shift,
} from '../shared/states.ts'
import type { Forest } from './forest.ts'
import { type Priced, slackOf } from './lagrangian.ts'

/** A list that comes to a node: unchanged, or with a node that all its states take. */
export interface Coming {
  readonly states: States
  /** Node of the forest, or `AS_BEFORE`. */
  readonly take: number
}

/** Makes lists of states, by falling budget and rising value, without dominated states. */
export interface Lists {
  /** The list of the state that took nothing. */
  start(): States
  /**
   * Brings lists together at a node of the forest, without the states whose bound does not reach
   * what is needed.
   */
  join(coming: readonly Coming[], at: number): States
  /** Upper bound of the values that the states at a node can lead to, in units. */
  bestBound(states: States, at: number): number
  /** Gives a list back that is not needed any more. */
  release(states: States): void
}

const STAY = { cost: 0, value: 0, option: AS_BEFORE } as const

export function createLists(
  forest: Forest,
  history: History,
  { price, rest }: Priced,
  incumbent: Incumbent,
): Lists {
  const slack = slackOf(forest, price)
  const free: States[] = []
  let [runs, spare] = [createStates(64), createStates(64)]

  return {
    start() {
      const states = createStates(64)
      states.left[0] = forest.budget
      states.count = 1
      return states
    },
    join(coming, at) {
      const room = coming.reduce((sum, { states }) => sum + states.count, 0)
      reserve(runs, room)
      reserve(spare, room)
      runs.count = 0
      const needed = incumbent.needed - slack - rest[at]!
      const limits = { gainPerStep: price, lossPerStep: price, slack: 0, needed, lowest: 0 }
      const ends = coming.map(({ states, take }) => {
        const [cost, value] = [forest.cost[take]!, forest.value[take]!]
        shift(states, runs, take === AS_BEFORE ? STAY : { cost, value, option: take }, limits)
        return runs.count
      })
      const merged = mergeRuns(runs, ends, spare)
      if (merged === runs) runs = free.pop() ?? createStates(64)
      else spare = free.pop() ?? createStates(64)
      remember(merged, history)
      return merged
    },
    bestBound({ left, value, count }, at) {
      let bound = -Infinity
      for (let s = 0; s < count; s++) bound = Math.max(bound, value[s]! + left[s]! * price)
      return bound + rest[at]! + slack
    },
    release(states) {
      free.push(states)
    },
  }
}

/** Gives every state that takes something a node of its own. */
function remember({ node, option, count }: States, history: History): void {
  for (let s = 0; s < count; s++) {
    if (option[s] !== AS_BEFORE) node[s] = history.add(node[s]!, option[s]!)
  }
}

/** Keeps the `width` states with the best bounds at a price, in their order. */
export function thin(states: States, width: number, price: number): void {
  const { left, value, node, count } = states
  const bounds = new Float64Array(count)
  for (let s = 0; s < count; s++) bounds[s] = value[s]! + left[s]! * price
  const least = bounds.slice().sort()[count - width]!
  let kept = 0
  for (let s = 0; s < count && kept < width; s++) {
    if (bounds[s]! < least) continue
    left[kept] = left[s]!
    value[kept] = value[s]!
    node[kept++] = node[s]!
  }
  states.count = kept
}
