import type { ShapeName } from '../../core/telemetry/event.ts'
import { addShares, medianShare, type ShareCounts } from './counts.ts'
import { CONDITIONS, type ConditionMask, namesOf } from './predicates.ts'

/** Results that are alike to every predicate, and were written in the same format. */
export interface Alike {
  readonly shape: ShapeName
  readonly conditions: ConditionMask
  /** `null` if they stayed as they were. */
  readonly notation: string | null
  results: number
  /** Saved by the format. */
  saved_tokens: number
  readonly shares: ShareCounts
}

/** The format for results of a kind, and the evidence for it. */
export interface Rule {
  readonly shape: ShapeName
  /** Names of `CONDITIONS` that all hold. */
  readonly conditions: readonly string[]
  readonly notation: string
  /** Results that meet the predicate. */
  readonly support: number
  /** Share of these that the format was sent for. */
  readonly confidence: number
  /** Share of tokens that it saved, of those that it was sent for. */
  readonly median_saving: number | null
  readonly saved_tokens: number
  /**
   * The share of all savings by formats that this rule and earlier rules have. Each result counts
   * for the first rule that it meets, and for none if another format was sent.
   */
  readonly covered: number
}

/** Rules with less support may be chance. The seed's own rules require at least this. */
const MIN_SUPPORT = 20
/**
 * Share of the results that a rule must be right for: the seed's least certain one is right for
 * half of them.
 */
const MIN_CONFIDENCE = 0.5
const MAX_CONDITIONS = 3
const MAX_RULES = 20
/** A rule that covers less of the savings is not reported. */
const MIN_COVERED = 0.001

interface Predicate {
  readonly shape: ShapeName
  readonly mask: ConditionMask
  /** All that it holds for. */
  readonly met: readonly Alike[]
}

interface Candidate extends Predicate {
  readonly notation: string
  readonly confidence: number
  readonly saved_tokens: number
}

/**
 * Rules from predicates to formats by sequential covering: the one that saves most of what no
 * earlier rule covers, among those with enough support and confidence on all results, until little
 * is left. Of rules that save the same, that with fewer conditions. Predicates are conjunctions of
 * the shape and at most three conditions, grown as in Apriori (Agrawal and Srikant, 1994): only
 * from those with enough support.
 */
export function mineRules(groups: readonly Alike[]): readonly Rule[] {
  const all = savedBy(groups)
  const candidates = frequentPredicates(groups)
    .flatMap(candidatesOf)
    .filter(({ confidence }) => confidence >= MIN_CONFIDENCE)
  const rest = new Set(groups)
  const rules: Rule[] = []
  let saved = 0
  while (rules.length < MAX_RULES && all > 0) {
    const [best, gain] = choose(candidates, rest)
    if (best === null || gain < MIN_COVERED * all) break
    for (const group of best.met) rest.delete(group)
    saved += gain
    rules.push({ ...measure(best), covered: saved / all })
  }
  return rules
}

function measure(candidate: Candidate): Omit<Rule, 'covered'> {
  const { shape, mask, met, notation, confidence, saved_tokens } = candidate
  const shares: ShareCounts = new Map()
  for (const group of met) if (group.notation === notation) addShares(shares, group.shares)
  return {
    shape,
    conditions: namesOf(mask),
    notation,
    support: resultsOf(met),
    confidence,
    median_saving: medianShare(shares),
    saved_tokens,
  }
}

function choose(
  candidates: readonly Candidate[],
  rest: ReadonlySet<Alike>,
): [Candidate | null, number] {
  let best: Candidate | null = null
  let most = 0
  // Simpler ones come first, and keep their place against what is no better.
  for (const each of candidates) {
    // It covers no more than on all results.
    if (each.saved_tokens <= most) continue
    const { met, notation } = each
    const gain = savedBy(met.filter(group => group.notation === notation && rest.has(group)))
    if (gain > most) [best, most] = [each, gain]
  }
  return [best, most]
}

/** Level by level, so that predicates with fewer conditions come first. */
function frequentPredicates(groups: readonly Alike[]): readonly Predicate[] {
  const shapes = [...new Set(groups.map(({ shape }) => shape))].sort()
  let level = shapes.map((shape): Predicate => {
    return { shape, mask: 0, met: groups.filter(group => group.shape === shape) }
  })
  const all: Predicate[] = []
  for (let conditions = 0; conditions <= MAX_CONDITIONS; conditions++) {
    level = level.filter(({ met }) => resultsOf(met) >= MIN_SUPPORT)
    for (const item of level) all.push(item)
    if (conditions < MAX_CONDITIONS) level = level.flatMap(extended)
  }
  return all
}

/** With one more condition, of a later place and another group, so that none comes twice. */
function extended({ shape, mask, met }: Predicate): Predicate[] {
  const taken = new Set(CONDITIONS.filter((_, index) => mask & (1 << index)).map(c => c.group))
  return CONDITIONS.flatMap(({ group }, index) => {
    const bit = 1 << index
    if (bit <= mask || taken.has(group)) return []
    return [{ shape, mask: mask | bit, met: met.filter(each => each.conditions & bit) }]
  })
}

/** The formats that were sent for results that meet the predicate, the most frequent first. */
function candidatesOf(predicate: Predicate): readonly Candidate[] {
  const { met } = predicate
  const support = resultsOf(met)
  const notations = new Set(met.flatMap(({ notation }) => (notation === null ? [] : [notation])))
  return [...notations]
    .sort()
    .map(notation => {
      const sent = met.filter(group => group.notation === notation)
      const confidence = resultsOf(sent) / support
      return { ...predicate, notation, confidence, saved_tokens: savedBy(sent) }
    })
    .sort((a, b) => b.confidence - a.confidence)
}

function resultsOf(groups: readonly Alike[]): number {
  return groups.reduce((sum, { results }) => sum + results, 0)
}

function savedBy(groups: readonly Alike[]): number {
  return groups.reduce((sum, { saved_tokens }) => sum + saved_tokens, 0)
}
