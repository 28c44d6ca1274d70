import type { ShapeName } from '../../core/telemetry/event.ts'
import { CONDITIONS, type ConditionMask, namesOf } from './predicates.ts'
import { addShares, medianShare, type ShareCounts } from './shares.ts'

/** Results that are alike to every predicate, and were written in the same notation. */
export interface Alike {
  readonly shape: ShapeName
  readonly conditions: ConditionMask
  /** `null` where they stayed as they were. */
  readonly notation: string | null
  results: number
  /** Saved by the notation. */
  saved_tokens: number
  readonly shares: ShareCounts
}

/** What is done with results of a kind, and what speaks for it. */
export interface Rule {
  readonly shape: ShapeName
  /** Names of `CONDITIONS` that all hold. */
  readonly conditions: readonly string[]
  readonly notation: string
  /** Results that meet the predicate. */
  readonly support: number
  /** Share of these that the notation was sent for. */
  readonly confidence: number
  /** Share of tokens that it saved, of those that it was sent for. */
  readonly median_saving: number | null
  readonly saved_tokens: number
  /** Of what all notations saved, by this rule and those before it; each result counts for the first rule that it meets. */
  readonly covered: number
}

/** Rules with less support are chance: the least that the seed's own rules ask for. */
const MIN_SUPPORT = 20
/** Share of the results that a rule must be right for: the seed's least certain one is right for half of them. */
const MIN_CONFIDENCE = 0.5
const MAX_CONDITIONS = 3
const MAX_RULES = 20
/** A rule that covers less of what was saved is not worth its line. */
const MIN_COVERED = 0.001

interface Predicate {
  readonly shape: ShapeName
  readonly mask: ConditionMask
}

interface Candidate extends Predicate {
  readonly notation: string
  readonly support: number
  readonly confidence: number
  readonly saved_tokens: number
  readonly shares: ShareCounts
}

/**
 * Rules from predicates to notations by sequential covering: the one that saves most of what no earlier rule covers, among those
 * with enough support and confidence on all results, until little is left. Of rules that save the same, that with fewer
 * conditions. Predicates are conjunctions of the shape and at most three conditions, grown as in Apriori (Agrawal and Srikant,
 * 1994): only from those with enough support.
 */
export function mineRules(groups: readonly Alike[]): readonly Rule[] {
  const all = savedBy(groups)
  const candidates = frequentPredicates(groups).flatMap(each => bestNotation(each, groups))
  const rules: Rule[] = []
  let rest = groups
  while (rules.length < MAX_RULES && all > 0) {
    const [best, gain] = choose(candidates, rest)
    if (best === null || gain < MIN_COVERED * all) break
    rest = rest.filter(group => !meets(group, best))
    rules.push(toRule(best, 1 - savedBy(rest) / all))
  }
  return rules
}

/** What one predicate is worth, for comparison; `null` where nothing meets it. @param conditions names of `CONDITIONS` */
export function measureRule(
  groups: readonly Alike[],
  predicate: { readonly shape: ShapeName; readonly conditions: readonly string[] },
): Omit<Rule, 'covered'> | null {
  const { shape, conditions } = predicate
  const mask = conditions.reduce((sum, name) => sum | bitOf(name), 0)
  const [best] = notationsOf({ shape, mask }, groups)
  if (best === undefined) return null
  const { covered: _, ...rule } = toRule(best, 0)
  return rule
}

function bitOf(name: string): number {
  const index = CONDITIONS.findIndex(condition => condition.name === name)
  if (index === -1) throw new Error(`no condition ${name}`)
  return 1 << index
}

function toRule(candidate: Candidate, covered: number): Rule {
  const { shape, mask, notation, support, confidence, saved_tokens, shares } = candidate
  const median_saving = medianShare(shares)
  const conditions = namesOf(mask)
  return { shape, conditions, notation, support, confidence, median_saving, saved_tokens, covered }
}

function choose(
  candidates: readonly Candidate[],
  rest: readonly Alike[],
): [Candidate | null, number] {
  let best: Candidate | null = null
  let most = 0
  // Simpler ones come first, and keep their place against what is no better.
  for (const each of candidates) {
    const gain = savedBy(
      rest.filter(group => group.notation === each.notation && meets(group, each)),
    )
    if (gain > most) [best, most] = [each, gain]
  }
  return [best, most]
}

/** Level by level, so that predicates with fewer conditions come first. */
function frequentPredicates(groups: readonly Alike[]): readonly Predicate[] {
  const shapes = [...new Set(groups.map(({ shape }) => shape))].sort()
  let level: Predicate[] = shapes.map(shape => ({ shape, mask: 0 }))
  const all: Predicate[] = []
  for (let conditions = 0; conditions <= MAX_CONDITIONS; conditions++) {
    level = level.filter(each => supportOf(each, groups) >= MIN_SUPPORT)
    all.push(...level)
    level = level.flatMap(extended)
  }
  return all
}

/** With one more condition, of a later place and another group, so that none comes twice. */
function extended({ shape, mask }: Predicate): Predicate[] {
  const last = 31 - Math.clz32(mask)
  const taken = new Set(CONDITIONS.filter((_, index) => mask & (1 << index)).map(c => c.group))
  return CONDITIONS.flatMap(({ group }, index) => {
    const isNew = (mask === 0 || index > last) && !taken.has(group)
    return isNew ? [{ shape, mask: mask | (1 << index) }] : []
  })
}

function bestNotation(predicate: Predicate, groups: readonly Alike[]): readonly Candidate[] {
  return notationsOf(predicate, groups).filter(({ confidence }) => confidence >= MIN_CONFIDENCE)
}

/** The one that was sent most often first. */
function notationsOf(predicate: Predicate, groups: readonly Alike[]): readonly Candidate[] {
  const met = groups.filter(group => meets(group, predicate))
  const support = resultsOf(met)
  const notations = new Set(met.flatMap(({ notation }) => (notation === null ? [] : [notation])))
  return [...notations]
    .sort()
    .map(notation => {
      const sent = met.filter(group => group.notation === notation)
      const shares: ShareCounts = new Map()
      for (const group of sent) addShares(shares, group.shares)
      const confidence = resultsOf(sent) / support
      return { ...predicate, notation, support, confidence, saved_tokens: savedBy(sent), shares }
    })
    .sort((a, b) => b.confidence - a.confidence)
}

function meets({ shape, conditions }: Alike, predicate: Predicate): boolean {
  return shape === predicate.shape && (conditions & predicate.mask) === predicate.mask
}

function supportOf(predicate: Predicate, groups: readonly Alike[]): number {
  return resultsOf(groups.filter(group => meets(group, predicate)))
}

function resultsOf(groups: readonly Alike[]): number {
  return groups.reduce((sum, { results }) => sum + results, 0)
}

function savedBy(groups: readonly Alike[]): number {
  return groups.reduce((sum, { saved_tokens }) => sum + saved_tokens, 0)
}
