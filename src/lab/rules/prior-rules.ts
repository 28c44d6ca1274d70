import type { Fingerprint } from '../../core/fingerprints/fingerprint.ts'
import { quantileOf, toParts } from '../../core/fingerprints/histograms.ts'
import type { PipelineConfig } from '../../core/pipeline/profile/pipeline-config.ts'
import { type Profile, resolveProfile } from '../../core/pipeline/profile/resolve.ts'
import { pathOfToolKey } from '../../core/pipeline/profile/tool-keys.ts'
import type { Stats } from './class-stats.ts'
import {
  type ClassChange,
  type Proposal,
  type ProposedChange,
  proposed,
  type Rules,
} from './proposal.ts'
import { LEAST_RESULTS, leastCharsFor, levelsFor, rememberMore } from './thresholds.ts'

/** What a team, a provider and own telemetry know of endpoint classes, blended, by name. */
export type Priors = ReadonlyMap<string, Fingerprint>

/** Results with parts left out that a rate must be of. */
const LEAST_ELIDED = 20
/**
 * The share of elided results from which on fetching costs more than was saved. On recorded
 * sessions it is where `Read` breaks even if its whole text is fetched.
 */
const BREAK_EVEN = 0.3

interface PriorTerms {
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
export function proposeByPriors({ config, priors, all, fetched }: PriorTerms): readonly Proposal[] {
  const byClass = [...priors.values()].flatMap(prior => {
    const { endpoint_class: tool } = prior
    if ((all.classes.get(tool)?.results ?? 0) >= LEAST_RESULTS) return []
    const profile = resolveProfile(config, { tool })
    return proposed(CLASS_RULES, [prior, profile, fetched], ({ key, ...change }) => {
      return byOthers({
        ...change,
        key: pathOfToolKey(key, tool),
        example: { tool, args: undefined },
      })
    })
  })
  if (all.sessions.results >= LEAST_RESULTS) return byClass
  return [...byClass, ...proposed(SESSION_RULES, [priors, config], byOthers)]
}

function byOthers<Found extends Omit<ProposedChange, 'touches'>>({ evidence, ...change }: Found) {
  const about = `figures of others: ${evidence}`
  return { ...change, evidence: about, touches: () => false, isTooFew: false, isPrior: true }
}

const CLASS_RULES: Rules<[Fingerprint, Profile, number], ClassChange> = {
  R6({ call_count, elided = 0, retrieved = 0, needed = 0 }, { elision }, fetched) {
    const markers = Math.round(call_count * elided)
    // An agent may fetch what it quotes.
    const back = Math.round(call_count * Math.max(retrieved, needed))
    if (markers < LEAST_ELIDED || back * fetched < BREAK_EVEN * markers) return []
    const evidence = `of ${markers} elided results ${back} were fetched, or quoted later`
    return elision.enabled ? [{ key: 'elision_enabled', to: false, evidence }] : []
  },

  R1({ dup_rate, repeat_burst, call_count }, profile) {
    const evidence = `${(100 * dup_rate).toFixed(0)} % of ${call_count} results came again`
    const burst = quantileOf('repeat_burst', repeat_burst, 0.9)
    return rememberMore(profile, dup_rate, burst).map(change => ({ ...change, evidence }))
  },
}

const SESSION_RULES: Rules<[Priors, PipelineConfig], Omit<ProposedChange, 'touches'>> = {
  R4(priors, { mckp }) {
    const deepest = quantileOf('depth', ofAll(priors, 'depth'), 0.95)
    if (deepest === null || levelsFor(deepest) === mckp.recursion_depth) return []
    const evidence = `95 % of the results have at most ${deepest} levels`
    return [{ key: ['mckp', 'recursion_depth'], to: levelsFor(deepest), evidence }]
  },

  R5(priors, { dedup }) {
    const short = quantileOf('response_chars', ofAll(priors, 'response_chars'), 0.25)
    if (short === null || leastCharsFor(short) === dedup.min_body_chars) return []
    const evidence = `a quarter of the results has at most ${short} bytes`
    return [{ key: ['dedup', 'min_body_chars'], to: leastCharsFor(short), evidence }]
  },
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
