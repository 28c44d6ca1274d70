import type { Fingerprint } from '../../core/fingerprints/fingerprint.ts'
import { quantileOf, toParts } from '../../core/fingerprints/histograms.ts'
import type { PipelineConfig } from '../../core/pipeline/profile/pipeline-config.ts'
import { resolveProfile } from '../../core/pipeline/profile/resolve.ts'
import { pathOfToolKey, type ToolKey } from '../../core/pipeline/profile/tool-keys.ts'
import type { Stats } from './class-stats.ts'
import { type Proposal, propose, type RuleId } from './proposal.ts'
import { depthFor, LEAST_REFERRED, LEAST_RESULTS, leastCharsFor, lruFor } from './thresholds.ts'

/** What a team, a provider and own telemetry know of endpoint classes, blended, by name. */
export type Priors = ReadonlyMap<string, Fingerprint>

/** Results with parts left out that a rate must be of. */
const LEAST_ELIDED = 20
/**
 * The share of elided results from which on fetching costs more than was saved. On recorded
 * sessions it is where `Read` breaks even if its whole text is fetched.
 */
const BREAK_EVEN = 0.3

/**
 * Whether what was left out came back so often that leaving out costs more than it saves.
 * @param fetched share of a needed result's text that is fetched
 */
function comesBackTooOften(elided: number, back: number, fetched: number): boolean {
  return elided >= LEAST_ELIDED && back * fetched >= BREAK_EVEN * elided
}

export interface PriorTerms {
  readonly config: PipelineConfig
  readonly priors: Priors
  /** Stats of the tenant's own results. */
  readonly all: Stats
  /** Share of a needed result's text that is fetched. */
  readonly fetched: number
}

/**
 * What others' figures propose for classes of which there are too few own results to judge by: only
 * what leaves nothing out, or switches elision off. R2 and R3 are never proposed by them, since
 * both cost tokens on recorded sessions.
 */
export function proposeByPriors(terms: PriorTerms): readonly Proposal[] {
  const { config, priors, all } = terms
  const unknown = [...priors.values()].filter(
    ({ endpoint_class: name }) => (all.classes.get(name)?.results ?? 0) < LEAST_RESULTS,
  )
  const byClass = unknown.flatMap(prior => [...r6(prior, terms), ...r1(prior, config)])
  if (all.sessions.results >= LEAST_RESULTS) return byClass
  return [...byClass, ...r4(priors, config), ...r5(priors, config)]
}

function profileOf({ endpoint_class: tool }: Fingerprint, config: PipelineConfig) {
  return resolveProfile(config, { tool })
}

function r6(prior: Fingerprint, { config, fetched }: PriorTerms): readonly Proposal[] {
  const { call_count, elided = 0, retrieved = 0, needed = 0 } = prior
  const markers = Math.round(call_count * elided)
  // An agent may fetch what it quotes.
  const back = Math.round(call_count * Math.max(retrieved, needed))
  if (!comesBackTooOften(markers, back, fetched)) return []
  if (!profileOf(prior, config).elision.enabled) return []
  const evidence = `of ${markers} elided results ${back} were fetched, or quoted later`
  return [ofClass('R6', prior, ['elision_enabled', false], evidence)]
}

function r1(prior: Fingerprint, config: PipelineConfig): readonly Proposal[] {
  const { dup_rate, repeat_burst, call_count } = prior
  if (dup_rate < LEAST_REFERRED) return []
  const { dedup } = profileOf(prior, config)
  const evidence = `${(100 * dup_rate).toFixed(0)} % of ${call_count} results came again`
  const on = dedup.exact ? [] : [ofClass('R1', prior, ['dedup_enabled', true], evidence)]
  const burst = quantileOf('repeat_burst', repeat_burst, 0.9)
  const lru = burst === null ? 0 : lruFor(burst)
  if (lru <= dedup.lruSize) return on
  return [...on, ofClass('R1', prior, ['lru_size', lru], evidence)]
}

function r4(priors: Priors, { mckp }: PipelineConfig): readonly Proposal[] {
  const deepest = quantileOf('depth', ofAll(priors, 'depth'), 0.95)
  if (deepest === null || depthFor(deepest) === mckp.recursion_depth) return []
  const evidence = `95 % of the results have at most ${deepest} levels`
  return [prior('R4', ['mckp', 'recursion_depth'], depthFor(deepest), evidence)]
}

function r5(priors: Priors, { dedup }: PipelineConfig): readonly Proposal[] {
  const short = quantileOf('response_chars', ofAll(priors, 'response_chars'), 0.25)
  if (short === null || leastCharsFor(short) === dedup.min_body_chars) return []
  const evidence = `a quarter of the results has at most ${short} bytes`
  return [prior('R5', ['dedup', 'min_body_chars'], leastCharsFor(short), evidence)]
}

/** The histogram of all classes together, by their calls; `undefined` if none has one. */
function ofAll(priors: Priors, name: 'depth' | 'response_chars'): readonly number[] | undefined {
  const sums: number[] = []
  for (const { call_count, [name]: parts = [] } of priors.values()) {
    for (const [bucket, part] of parts.entries()) {
      sums[bucket] = (sums[bucket] ?? 0) + call_count * part
    }
  }
  return toParts(sums) ?? undefined
}

function ofClass(
  rule: RuleId,
  { endpoint_class: name }: Fingerprint,
  [key, to]: readonly [ToolKey, boolean | number],
  evidence: string,
): Proposal {
  const proposed = prior(rule, pathOfToolKey(key, name), to, evidence)
  return { ...proposed, example: { tool: name, args: undefined } }
}

function prior(
  rule: RuleId,
  key: Proposal['key'],
  to: boolean | number,
  evidence: string,
): Proposal {
  const known = { evidence: `figures of others: ${evidence}`, touches: () => false }
  return propose(rule, key, to, { ...known, isPrior: true })
}
