import { solveMckp } from '../../solvers/mckp/mckp.ts'
import { SKIPPED } from '../../solvers/mckp/problem.ts'
import { createChoices } from './choices.ts'
import { classesOf, keptOf, type PlanClass } from './classes.ts'
import { type Opening, openWithin, totalOf, totalsOf } from './opening.ts'
import { ALL, type Kept, type PricedNode } from './priced-node.ts'

/** What to keep of a document within a budget, and how good that is. */
export interface Plan {
  readonly kept: Kept
  /** Tokens and value of what is kept, by the document's own prices. */
  readonly cost: number
  readonly worth: number
  /** Value of the whole document. */
  readonly wholeWorth: number
  /**
   * No plan that opens the same containers and makes the same choices of parts has a higher value.
   */
  readonly upperBound: number
  readonly optimal: boolean
  /** Parts that were decided on. */
  readonly classes: number
}

/** Work that one plan takes at most; beyond it the plan is the best found, with its bound. */
const MAX_STATES = 2_000_000

/** Plans for one document. */
export interface Planner {
  /** The largest budget to plan for, by the document's own prices. */
  readonly most: number
  /**
   * Decides what is kept within a budget: a multiple-choice knapsack whose classes are the children
   * of open containers, and whose options are their choices (`createChoices`), or nothing. Frames
   * of open containers count in any case.
   * @param budget tokens by the document's own prices, which are near those of the text that is
   * written in the end
   */
  plan(budget: number): Plan
}

export function createPlanner(root: PricedNode): Planner {
  const totals = totalsOf(root)
  const total = totalOf(root, totals)
  const wholeWorth = worthOf(root)
  const choicesOf = createChoices()
  /** By the number of open containers: coarser openings are parts of finer ones. */
  const known = new Map<number, readonly PlanClass[]>()

  function classesFor(opening: Opening): readonly PlanClass[] {
    const { size } = opening.forms
    const classes = known.get(size) ?? classesOf(root, opening, choicesOf)
    known.set(size, classes)
    return classes
  }

  return {
    // A plan for less than all of it, which is known not to fit.
    most: total - 1,
    plan(budget) {
      if (total <= budget) return wholePlan(total, wholeWorth)
      const opening = openWithin(root, budget, totals)
      const classes = classesFor(opening)
      const room = Math.max(0, Math.floor(budget - opening.frames))
      const { picks, cost, ...solution } = pickWithin(classes, room)
      return {
        ...solution,
        wholeWorth,
        kept: keptOf(root, opening, classes, picks),
        cost: opening.frames + cost,
        classes: classes.length,
      }
    },
  }
}

function wholePlan(cost: number, worth: number): Plan {
  return {
    kept: ALL,
    cost,
    worth,
    wholeWorth: worth,
    upperBound: worth,
    optimal: true,
    classes: 1,
  }
}

/** Value of a node as a whole. */
export function worthOf({ worth, children = [] }: PricedNode): number {
  return children.reduce((sum, child) => sum + worthOf(child), worth)
}

/** The best choice of each class, or none, as a multiple-choice knapsack with whole costs. */
function pickWithin(classes: readonly PlanClass[], budget: number) {
  const size = classes.reduce((sum, { choices }) => sum + choices.length, 0)
  const starts = new Uint32Array(classes.length + 1)
  const costs = new Float64Array(size)
  const values = new Float64Array(size)
  let end = 0
  classes.forEach(({ choices, extra }, index) => {
    for (const { cost, worth } of choices) {
      costs[end] = Math.ceil(cost + extra)
      values[end++] = worth
    }
    starts[index + 1] = end
  })
  const required = new Uint8Array(classes.length)
  const solution = solveMckp({ starts, costs, values, required, budget }, { maxStates: MAX_STATES })
  if (!solution.feasible) throw new Error('a knapsack without required classes has no solution')
  return {
    picks: classes.map(({ choices }, index) => {
      const pick = solution.picks[index]!
      return pick === SKIPPED ? null : choices[pick]!
    }),
    cost: solution.cost,
    worth: solution.value,
    upperBound: solution.upperBound,
    optimal: solution.optimal,
  }
}
