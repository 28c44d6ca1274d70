import type { DiffLevel } from '../reduce/elide/view-diff.ts'
import { type Referral, withRuns } from '../sessions/turn/referral.ts'
import { type ElideOptions, elideBeside, leastSavedOf } from './elide.ts'
import type { BesideReferences } from './escape.ts'
import type { FitOutcome } from './fit-budget.ts'
import type { Choice } from './gate.ts'
import type { LayerInput } from './layer.ts'
import { leftBeside } from './left-parts.ts'
import type { ElisionProfile } from './profile/resolve.ts'

/** Options for a text that has references and lacks lines. */
interface LackingOptions extends Omit<ElideOptions, 'shown' | 'choose'> {
  readonly level: DiffLevel | undefined
  /** The text with references in its smallest form. */
  write(referral: Referral): BesideReferences
}

/**
 * A text with references to what the agent has, and its other lines without their bulk.
 * @param lines the same text with all of its other lines
 * @returns `null` if nothing may be left out, or too little would be saved
 */
export function withoutOtherLines(
  input: LayerInput,
  lines: FitOutcome,
  { write, ...options }: LackingOptions,
): FitOutcome | null {
  const { referral, referredTokens } = lines
  const { counter } = input.prices
  if (referral?.runs === undefined) return null
  const left = leftBeside(input.content, referral.runs, counter)
  if (left === null) return null
  const shown = withRuns(referral, left.content, left.runs)
  const choose = () => {
    const written = write(shown)
    return { ...written, layer: lines.layer, tokens: counter.count(written.content) }
  }
  const outcome = elideBeside(input, lines, left, { ...options, shown: null, choose })
  if (outcome === null) return null
  return {
    ...outcome,
    hints: [...shown.hints, ...outcome.hints],
    referral: shown,
    ...(referredTokens === undefined ? {} : { referredTokens }),
  }
}

/**
 * The smallest of the ways to write a result. One that leaves parts out must save as much as any
 * elision, compared with all of the result.
 * @param whole the smallest text with all of it
 * @returns `null` if none of them is smaller than `whole`, and that has no references
 */
export function smallestBeside(
  whole: Choice,
  lines: FitOutcome,
  ways: readonly (FitOutcome | null)[],
  elision: Pick<ElisionProfile, 'maxRatio' | 'leastSaved'>,
): FitOutcome | null {
  const most = whole.tokens * elision.maxRatio
  const mostOf = ({ view, elided: [part] }: FitOutcome) =>
    view !== undefined || part === undefined
      ? most
      : Math.min(most, whole.tokens - leastSavedOf(part, elision))
  let best = whole === lines ? lines : null
  for (const way of ways) {
    if (way === null || way.tokens >= (best ?? whole).tokens) continue
    if (way.elided.length === 0 || way.tokens <= mostOf(way)) best = way
  }
  return best
}
