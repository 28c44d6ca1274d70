import { solveMckp } from '../../solvers/mckp/mckp.ts'
import { SKIPPED } from '../../solvers/mckp/problem.ts'
import { type Choice, type Choices, createChoices, MOST_CHOICES } from './choices.ts'
import { type Opening, openWithin, totalOf, totalsOf } from './opening.ts'
import { ALL, extraOf, type KeptPart, type PricedNode } from './priced-node.ts'

/** The parts of a document to keep within a budget, and how good that choice is. */
export interface Plan {
  readonly kept: KeptPart
  /** Tokens and value of what is kept, by the document's own prices. */
  readonly cost: number
  readonly value: number
  /** Value of the whole document. */
  readonly wholeValue: number
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
  const wholeValue = totalValue(root)
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
    // The plan is for less than the whole document, which is known not to fit.
    most: total - 1,
    plan(budget) {
      if (total <= budget) return wholePlan(total, wholeValue)
      const opening = openWithin(root, budget, totals)
      const classes = classesFor(opening)
      const room = Math.max(0, Math.floor(budget - opening.frames))
      const { picks, cost, ...solution } = pickWithin(classes, room)
      return {
        ...solution,
        wholeValue,
        kept: keptOf(root, opening, classes, picks),
        cost: opening.frames + cost,
        classes: classes.length,
      }
    },
  }
}

function wholePlan(cost: number, value: number): Plan {
  return {
    kept: ALL,
    cost,
    value,
    wholeValue: value,
    upperBound: value,
    optimal: true,
    classes: 1,
  }
}

/** Value of a node as a whole. */
export function totalValue({ value, children = [] }: PricedNode): number {
  return children.reduce((sum, child) => sum + totalValue(child), value)
}

/** The best choice of each class, or none, as a multiple-choice knapsack with whole costs. */
function pickWithin(classes: readonly PlanClass[], budget: number) {
  const size = classes.reduce((sum, { choices }) => sum + choices.length, 0)
  const starts = new Uint32Array(classes.length + 1)
  const costs = new Float64Array(size)
  const values = new Float64Array(size)
  let end = 0
  classes.forEach(({ choices, extra }, index) => {
    for (const { cost, value } of choices) {
      costs[end] = Math.ceil(cost + extra)
      values[end++] = value
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
    value: solution.value,
    upperBound: solution.upperBound,
    optimal: solution.optimal,
  }
}

/**
 * Children of one open container that are decided on together: one, or a run if there are very
 * many.
 */
interface PlanClass {
  readonly parent: PricedNode
  readonly indexes: readonly number[]
  /** Tokens that go with any choice. */
  readonly extra: number
  readonly choices: readonly Choice[]
}

/**
 * Children of one container that are classes of their own. If there are more, runs of equal length
 * are the classes.
 */
const MOST_CLASSES = 2_048
/** Choices of all classes together, about; if classes are few, each has more. */
const CHOICES = 4_096

/**
 * The classes of a document that is opened so, in its order. Required nodes are not in any class.
 */
export function classesOf(
  root: PricedNode,
  opening: Opening,
  choicesOf: Choices,
): readonly PlanClass[] {
  const runs = runsOf(root, opening)
  const most = Math.max(MOST_CHOICES, Math.floor(CHOICES / runs.length))
  return runs.map(({ parent, indexes }) => {
    const form = opening.forms.get(parent)!
    const nodes = indexes.map(index => parent.children![index]!)
    const [node] = nodes
    if (node !== undefined && nodes.length === 1) {
      const extra = extraOf(node, form)
      return { parent, indexes, extra, choices: choicesOf(node, form, most) }
    }
    // A run has no frame: its choices are the best sets of its members' choices.
    const run = { own: 0, key: 0, value: 0, children: nodes }
    return { parent, indexes, extra: 0, choices: choicesOf(run, form, most) }
  })
}

interface Run {
  readonly parent: PricedNode
  readonly indexes: readonly number[]
}

function runsOf(root: PricedNode, { forms }: Opening): readonly Run[] {
  const runs: Run[] = []
  const visit = (parent: PricedNode): void => {
    const { children = [] } = parent
    const length = Math.ceil(children.length / MOST_CLASSES)
    let indexes: number[] = []
    children.forEach((child, index) => {
      if (forms.has(child)) visit(child)
      else if (child.required !== true && indexes.push(index) === length) {
        runs.push({ parent, indexes })
        indexes = []
      }
    })
    if (indexes.length > 0) runs.push({ parent, indexes })
  }
  visit(root)
  return runs
}

/**
 * What is kept of the whole document.
 * @param picks the choice of each class, `null` for nothing
 */
function keptOf(
  root: PricedNode,
  { forms }: Opening,
  classes: readonly PlanClass[],
  picks: readonly (Choice | null)[],
): KeptPart {
  const parts = new Map<PricedNode, (KeptPart | null)[]>()
  for (const node of forms.keys())
    parts.set(
      node,
      (node.children ?? []).map(() => null),
    )
  classes.forEach(({ parent, indexes }, at) => {
    const kept = picks[at]?.kept()
    if (kept === undefined) return
    const own = parts.get(parent)!
    if (indexes.length === 1) own[indexes[0]!] = kept
    else {
      indexes.forEach((index, i) => {
        own[index] = kept.kind === 'some' ? (kept.children[i] ?? null) : kept
      })
    }
  })
  const assemble = (node: PricedNode): KeptPart => {
    const children = parts.get(node)!
    node.children?.forEach((child, index) => {
      if (child.required === true) children[index] = ALL
      else if (forms.has(child)) {
        const kept = assemble(child)
        // Empty brackets would mean that the original was empty.
        children[index] = keepsAny(kept) ? kept : null
      }
    })
    return { kind: 'some', children }
  }
  return assemble(root)
}

function keepsAny(kept: KeptPart): boolean {
  return kept.kind !== 'some' || kept.children.some(child => child !== null)
}
