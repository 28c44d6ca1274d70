import { type History, ROOT } from '../shared/history.ts'
import type { Lattice } from '../shared/lattice.ts'
import {
  AS_BEFORE,
  createStates,
  type Limits,
  mergeRuns,
  reserve,
  type States,
  shift,
} from '../shared/states.ts'
import { type Certificate, ROUNDING } from './certify.ts'
import type { Slopes, Taken } from './core.ts'
import type { Reduced } from './reduce.ts'
import type { Relaxation } from './relaxation.ts'

/** The pick of the break solution. */
const BREAK_PICK = { cost: 0, value: 0, option: AS_BEFORE } as const

/**
 * A layer of the dynamic program: the states over some classes, all others being as in the break
 * solution.
 */
export interface Layer {
  /** Undominated; each with its node of the history. */
  readonly states: States
  /** Replaces the states by all of them with every option of one more class. */
  expand(taken: Taken, limits: Limits): void
  /** Drops the states that cannot become a better solution any more. */
  prune(limits: Limits): void
  /** Back to the single state of the break solution. */
  reset(): void
}

/**
 * A layer with the break solution only, which leaves `start` steps of the budget. It holds three
 * sets of states, which grow as needed.
 */
export function createLayer({ costs, values }: Reduced, history: History, start: number): Layer {
  let [states, runs, spare] = [createStates(64), createStates(64), createStates(64)]

  function reset(): void {
    states.left[0] = start
    states.value[0] = 0
    states.node[0] = ROOT
    states.count = 1
  }

  reset()
  return {
    get states() {
      return states
    },
    reset,
    prune(limits) {
      reserve(runs, states.count)
      runs.count = 0
      shift(states, runs, BREAK_PICK, limits)
      ;[states, runs] = [runs, states]
    },
    expand({ picked, others }, limits) {
      const width = states.count * (others.length + 1)
      reserve(runs, width)
      reserve(spare, width)
      runs.count = 0
      shift(states, runs, BREAK_PICK, limits)
      const ends = [runs.count]
      for (const option of others) {
        const cost = costs[option]! - costs[picked]!
        const value = values[option]! - values[picked]!
        shift(states, runs, { cost, value, option }, limits)
        ends.push(runs.count)
      }
      const merged = mergeRuns(runs, ends, spare)
      ;[states, runs, spare] = [merged, states, merged === runs ? spare : runs]
      remember(states, history)
    },
  }
}

/** Gives every state that picks something else than the break solution a node of its own. */
function remember({ node, option, count }: States, history: History): void {
  for (let s = 0; s < count; s++) {
    if (option[s] !== AS_BEFORE) node[s] = history.add(node[s]!, option[s]!)
  }
}

/**
 * Limits by the slopes of the classes that are not in the core. Weak duality needs one price for
 * both directions: if rounding has put the two slopes into the wrong order, their difference is
 * added for the whole budget.
 */
export function limitsBySlopes(
  { up, down }: Slopes,
  needed: number,
  lattice: Lattice,
  { budget }: Reduced,
): Limits {
  const gainPerStep = Math.max(up, lattice.price)
  const slack = 2 * Math.max(0, gainPerStep - down) * budget
  return { gainPerStep, lossPerStep: down, slack, needed: needed - slack, lowest: -budget }
}

/** Limits by the price alone. They are weaker, and valid for states over any classes. */
export function limitsByPrice(
  { price }: Relaxation,
  { excess }: Certificate,
  needed: number,
  { budget }: Reduced,
): Limits {
  const [gainPerStep, lossPerStep] = [price * (1 + ROUNDING), price * (1 - ROUNDING)]
  const slack = excess + 2 * (gainPerStep - lossPerStep) * budget
  return { gainPerStep, lossPerStep, slack, needed: needed - slack, lowest: -budget }
}
