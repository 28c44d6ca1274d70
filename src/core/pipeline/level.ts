import { AppError } from '../base/errors.ts'
import { VIEW_LEVELS, type ViewLevel } from '../reduce/views/level.ts'
import type { FitOutcome } from './fit-budget.ts'
import type { LayerInput } from './layer.ts'
import type { Profile } from './profile/resolve.ts'
import { isRetrieving } from './profile/retrieving-tools.ts'
import type { ViewProfile } from './profile/sections.ts'

const FULL: ViewProfile = { level: 'full', views: [] }

/**
 * The level that is in force for a result. Errors and fetched originals have none. A request that
 * trims, or names its own budget, chooses by values instead.
 */
export function levelInForce(
  { request: { mode, budget_tokens, is_error, tool } }: Pick<LayerInput, 'request'>,
  { view, elision }: Pick<Profile, 'view' | 'elision'>,
  keepsOriginals: boolean,
): ViewProfile {
  const isFixed = is_error === true || isRetrieving(tool, elision.retrievingTools)
  const isOwn = mode === 'trim' || budget_tokens !== undefined
  return isFixed || isOwn || !keepsOriginals || !elision.enabled ? FULL : view
}

/** Whether a level shows all of a result, written in so many tokens. */
export function isWholeShown(
  { level, tokens: wish }: ViewProfile,
  { tokens }: Pick<FitOutcome, 'tokens'>,
): boolean {
  return level === 'full' && (wish === undefined || tokens <= wish)
}

/** How a result is written at each level. */
export interface Levels {
  /** What a level leaves of it; `null` if nothing goes, as at `full`. */
  left(level: ViewLevel): FitOutcome | null
  /** All of it. */
  whole(): FitOutcome
  /** The parts that fit; throws `AppError` `budget_too_small` if none do. */
  within(tokens: number): FitOutcome
}

/**
 * The mildest level, from one on, whose text fits a number of tokens, else the parts that fit. A
 * wish is no bound: if nothing fits, the smallest text of all is sent.
 */
export function fitWish(
  { level: mildest, tokens = Number.POSITIVE_INFINITY }: ViewProfile,
  { left, whole, within }: Levels,
): FitOutcome {
  const first = left(mildest) ?? whole()
  if (first.tokens <= tokens) return first
  let smallest = first
  for (const level of VIEW_LEVELS.slice(VIEW_LEVELS.indexOf(mildest) + 1)) {
    const outcome = left(level)
    if (outcome === null) continue
    if (outcome.tokens <= tokens) return outcome
    if (outcome.tokens < smallest.tokens) smallest = outcome
  }
  const parts = partsWithin(tokens, smallest.tokens, within)
  return parts !== null && parts.tokens < smallest.tokens
    ? { ...parts, level: 'compact' }
    : smallest
}

/**
 * The parts that fit, else the fewest of any answer.
 * @param most tokens that these have at most
 * @returns `null` if there are none
 */
function partsWithin(tokens: number, most: number, within: Levels['within']): FitOutcome | null {
  const parts = tried(tokens, within)
  if (!('minimum' in parts)) return parts
  if (parts.minimum >= most) return null
  const least = tried(parts.minimum, within)
  return 'minimum' in least ? null : least
}

function tried(
  tokens: number,
  within: Levels['within'],
): FitOutcome | { readonly minimum: number } {
  try {
    return within(tokens)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'budget_too_small') throw error
    return { minimum: error.extras.minimum_tokens ?? Number.POSITIVE_INFINITY }
  }
}
