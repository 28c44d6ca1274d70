import { solveMckp } from '../knapsack/mckp.ts'
import { SKIPPED } from '../knapsack/problem.ts'
import { type Choice, type Choices, createChoices } from './choices.ts'
import { ALL, extraOf, type Form, type Kept, type PricedNode } from './priced-node.ts'

/** What to keep of a document within a budget, and how good that is. */
export interface Plan {
  readonly kept: Kept
  /** Tokens and worth of what is kept, by the document's own prices. */
  readonly cost: number
  readonly worth: number
  /** No plan that opens the same containers and makes the same choices of parts is worth more. */
  readonly upperBound: number
  readonly optimal: boolean
  /** Parts that were decided on. */
  readonly classes: number
}

/** Work that one plan takes at most; beyond it the plan is the best found, with its bound. */
const MAX_STATES = 2_000_000

/**
 * A container is opened, so that each of its children is decided on by itself, where it has more than this share of the
 * document; coarser where the frames of what is open would take too much of the budget.
 */
const OPENING_SHARES = [1 / 64, 1 / 16, 1 / 4, 1] as const
const FRAMES_SHARE = 1 / 4

/** Containers that are open, each with how its children stand. */
type Opened = ReadonlyMap<PricedNode, Form>

/** Plans for one document. */
export interface Planner {
  /** Tokens of the whole document, by its own prices. */
  readonly total: number
  /**
   * Decides what is kept within a budget: a multiple-choice knapsack whose classes are the children of open
   * containers, and whose options are their choices (`createChoices`), or nothing. Frames of open containers are kept
   * in any case.
   * @param budget tokens by the document's own prices, which are near those of the text that is written in the end
   */
  plan(budget: number): Plan
}

export function createPlanner(root: PricedNode): Planner {
  const totals = new Map<PricedNode, number>()
  const total = addUp(root, totals)
  const choicesOf = createChoices()
  return {
    total,
    plan: budget =>
      total <= budget ? wholePlan(root, total) : planWithin(root, budget, { totals, choicesOf }),
  }
}

interface Known {
  readonly totals: ReadonlyMap<PricedNode, number>
  readonly choicesOf: Choices
}

function planWithin(root: PricedNode, budget: number, { totals, choicesOf }: Known): Plan {
  const { opened, frames } = openWithin(root, budget, totals)
  const classes = classesOf(root, opened, choicesOf)
  const picks = pickWithin(classes, Math.max(0, Math.floor(budget - frames)))
  const chosen = new Map(classes.map(({ node }, index) => [node, picks.choices[index] ?? null]))
  return {
    kept: keptOf(root, opened, chosen) ?? { kind: 'some', children: [] },
    cost: frames + picks.cost,
    worth: picks.worth,
    upperBound: picks.upperBound,
    optimal: picks.optimal,
    classes: classes.length,
  }
}

function wholePlan(root: PricedNode, cost: number): Plan {
  const worth = worthOf(root)
  return { kept: ALL, cost, worth, upperBound: worth, optimal: true, classes: 1 }
}

/** Worth of a node as a whole. */
export function worthOf({ worth, children = [] }: PricedNode): number {
  return children.reduce((sum, child) => sum + worthOf(child), worth)
}

/** Tokens of every node as a whole, its key apart. */
function addUp(node: PricedNode, totals: Map<PricedNode, number>): number {
  let total = node.own
  for (const child of node.children ?? []) total += addUp(child, totals) + extraOf(child, 'keyed')
  totals.set(node, total)
  return total
}

/** The finest opening whose frames leave most of the budget. */
function openWithin(root: PricedNode, budget: number, totals: ReadonlyMap<PricedNode, number>) {
  let found = open(root, 1, totals)
  for (const share of OPENING_SHARES) {
    const finer = open(root, share, totals)
    if (finer.frames <= budget * FRAMES_SHARE) {
      found = finer
      break
    }
  }
  return found
}

/** @returns open containers, and the tokens of their frames and keys */
function open(
  root: PricedNode,
  share: number,
  totals: ReadonlyMap<PricedNode, number>,
): { opened: Opened; frames: number } {
  const opened = new Map<PricedNode, Form>()
  const least = totals.get(root)! * share
  let frames = 0
  const visit = (node: PricedNode): void => {
    const inner = (node.children ?? []).filter(
      child => child.children !== undefined && child.sealed !== true && totals.get(child)! >= least,
    )
    const isTable = node.tableOwn !== undefined && inner.length === 0
    opened.set(node, isTable ? 'row' : 'keyed')
    frames += isTable ? node.tableOwn : node.own
    for (const child of inner) {
      frames += extraOf(child, 'keyed')
      visit(child)
    }
  }
  visit(root)
  return { opened, frames }
}

interface PlanClass {
  readonly node: PricedNode
  /** Tokens that go with any choice. */
  readonly extra: number
  readonly choices: readonly Choice[]
}

function classesOf(root: PricedNode, opened: Opened, choicesOf: Choices): PlanClass[] {
  const classes: PlanClass[] = []
  const visit = (node: PricedNode): void => {
    for (const child of node.children ?? []) {
      if (opened.has(child)) visit(child)
      else if (child.required !== true) {
        const choices = choicesOf(child, opened.get(node)!)
        classes.push({ node: child, extra: extraOf(child, 'keyed'), choices })
      }
    }
  }
  visit(root)
  return classes
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
  const choices = classes.map((each, index) => {
    const pick = solution.picks[index]!
    return pick === SKIPPED ? null : each.choices[pick]!
  })
  return {
    choices,
    cost: solution.cost,
    worth: solution.value,
    upperBound: solution.upperBound,
    optimal: solution.optimal,
  }
}

function keptOf(
  node: PricedNode,
  opened: Opened,
  chosen: ReadonlyMap<PricedNode, Choice | null>,
): Kept | null {
  if (node.required === true) return ALL
  if (!opened.has(node)) return chosen.get(node)?.kept() ?? null
  const children = (node.children ?? []).map(child => keptOf(child, opened, chosen))
  return { kind: 'some', children }
}
