import type { Document, Pruned } from './document.ts'
import { createPlanner, type Plan } from './plan.ts'
import type { KeptPart } from './priced-node.ts'

/** A text that fits. */
export interface Fitted<Text> {
  readonly text: Text
  readonly plan: Plan
  readonly pruned: Pruned
}

/** Writes what is kept of a document, with everything that goes with it. */
export type WritePruned<Text extends { readonly tokens: number }> = (pruned: Pruned) => Text

/** Plans that are written and counted at most. */
const MOST_TRIES = 7
/** After plans with so many tokens were written, any text that fits is good enough. */
const MOST_WRITTEN = 2_000_000
/** A text that fills this share of the budget is good enough, and is the aim. */
const FULL = 0.97
const AIM = (1 + FULL) / 2

/**
 * The most valuable part of a document that fits, by exact counts of the written text. A plan uses
 * the document's own prices, so its budget is raised or lowered until the text fits closely.
 * @returns the text, or the fewest tokens that anything of the document takes
 */
export function fitDocument<Text extends { readonly tokens: number }>(
  document: Document,
  budget: number,
  write: WritePruned<Text>,
): Fitted<Text> | { readonly minimum: number } {
  const planner = document.planner?.() ?? createPlanner(document.root)
  let best: Fitted<Text> | null = null
  // The largest plan that is known to fit, and the smallest that does not: its budget, and the
  // tokens of its text.
  let low: Tried = { budget: 0, tokens: 0 }
  let high: Tried | null = null
  let next = Math.min(planner.most, budget)
  let written = 0
  for (let tries = 0; tries < MOST_TRIES && next > low.budget; ) {
    if (best !== null && written > MOST_WRITTEN) break
    const plan = planner.plan(next)
    if (best !== null && plan.cost <= best.plan.cost) {
      low = { ...low, budget: next }
    } else {
      tries++
      written += plan.cost
      const pruned = document.prune(plan.kept)
      const text = write(pruned)
      if (text.tokens > budget) high = { budget: Math.min(next, plan.cost), tokens: text.tokens }
      else {
        low = { budget: next, tokens: text.tokens }
        if (best === null || plan.value > best.plan.value) best = { text, plan, pruned }
        if (text.tokens >= budget * FULL) break
      }
    }
    next =
      high === null
        ? Math.min(planner.most, inProportion(low, budget * AIM))
        : between(low, high, budget * AIM)
  }
  return best ?? fitLeast(document, planner.plan(0), budget, write)
}

/** The least share of the range by which it shrinks. */
const LEAST_STEP = 1 / 16

interface Tried {
  readonly budget: number
  readonly tokens: number
}

function inProportion({ budget, tokens }: Tried, aim: number): number {
  return Math.max(budget + 1, Math.ceil(budget * (aim / Math.max(1, tokens))))
}

/**
 * The budget at which the text would have `aim` tokens, by linear interpolation between the known
 * budgets. It is not too near to either, so that the range shrinks.
 */
function between(low: Tried, high: Tried, aim: number): number {
  // A text that must not leave has infinitely many tokens.
  const share = Number.isFinite(high.tokens) ? (aim - low.tokens) / (high.tokens - low.tokens) : 0.5
  const inside = Math.min(1 - LEAST_STEP, Math.max(LEAST_STEP, share))
  return Math.floor(low.budget + (high.budget - low.budget) * inside)
}

/** Writes only what is required. */
function fitLeast<Text extends { readonly tokens: number }>(
  document: Document,
  plan: Plan,
  budget: number,
  write: WritePruned<Text>,
): Fitted<Text> | { readonly minimum: number } {
  const kept = document.least?.() ?? requiredOf(document)
  const pruned = document.prune(kept)
  const text = write(pruned)
  if (text.tokens > budget) return { minimum: text.tokens }
  return { text, plan: { ...plan, kept, cost: 0, value: 0 }, pruned }
}

function requiredOf({ root }: Document): KeptPart {
  const children = (root.children ?? []).map(({ required }) =>
    required === true ? ({ kind: 'all' } as const) : null,
  )
  return { kind: 'some', children }
}
