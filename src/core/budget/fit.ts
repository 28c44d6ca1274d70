import type { Document } from './document.ts'
import { createPlanner, type Plan } from './plan.ts'
import type { Kept } from './priced-node.ts'
import type { Omission } from './prune-value.ts'

/** A text that fits. */
export interface Fitted<Text> {
  readonly text: Text
  readonly plan: Plan
  readonly omissions: readonly Omission[]
}

/** Writes what is kept of a document, with everything that goes with it. */
export type WritePruned<Text extends { readonly tokens: number }> = (
  content: string,
  omissions: readonly Omission[],
) => Text

/** Plans that are written and counted at most; the search halves its range where nothing better is known. */
const MOST_TRIES = 8
/** A text that fills this share of the budget is good enough. */
const FULL = 0.97

/**
 * The most valuable part of a document that fits, with exact counts of what is written in the end: a plan goes by the
 * document's own prices, so its budget is raised or lowered until the text fits closely.
 * @returns the text, or the fewest tokens that anything of the document takes
 */
export function fitDocument<Text extends { readonly tokens: number }>(
  document: Document,
  budget: number,
  write: WritePruned<Text>,
): Fitted<Text> | { readonly minimum: number } {
  const planner = createPlanner(document.root)
  let best: Fitted<Text> | null = null
  let low = 0
  let high = Math.min(planner.total - 1, Number.MAX_SAFE_INTEGER)
  let next = Math.min(high, budget)
  for (let tries = 0; tries < MOST_TRIES && next > low; tries++) {
    const plan = planner.plan(next)
    const { content, omissions } = document.prune(plan.kept)
    const text = write(content, omissions)
    const fits = text.tokens <= budget
    if (fits && (best === null || plan.worth > best.plan.worth)) best = { text, plan, omissions }
    if (fits && text.tokens >= budget * FULL) break
    if (fits) low = next
    else high = Math.min(high, next)
    next = nextBudget({ low, high, tried: next, scale: budget / Math.max(1, text.tokens) })
  }
  return best ?? fitLeast(document, planner.plan(0), budget, write)
}

/** By proportion, within what is known to fit and what is not. */
function nextBudget(range: { low: number; high: number; tried: number; scale: number }): number {
  const { low, high, tried, scale } = range
  const guess = Math.floor(tried * scale * (scale < 1 ? FULL : 1))
  if (guess > low && guess < high) return guess
  return guess >= high && low === tried
    ? Math.floor((low + high + 1) / 2)
    : Math.floor((low + high) / 2)
}

/** Nothing but what is required. */
function fitLeast<Text extends { readonly tokens: number }>(
  document: Document,
  plan: Plan,
  budget: number,
  write: WritePruned<Text>,
): Fitted<Text> | { readonly minimum: number } {
  const kept = requiredOf(document)
  const { content, omissions } = document.prune(kept)
  const text = write(content, omissions)
  if (text.tokens > budget) return { minimum: text.tokens }
  return { text, plan: { ...plan, kept, cost: 0, worth: 0 }, omissions }
}

function requiredOf({ root }: Document): Kept {
  const children = (root.children ?? []).map(({ required }) =>
    required === true ? ({ kind: 'all' } as const) : null,
  )
  return { kind: 'some', children }
}
