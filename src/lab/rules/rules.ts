import { writeKey } from '../../core/pipeline/profile/key-path.ts'
import type { PipelineConfig } from '../../core/pipeline/profile/pipeline-config.ts'
import { type Profile, resolveProfile } from '../../core/pipeline/profile/resolve.ts'
import { pathOfToolKey } from '../../core/pipeline/profile/tool-keys.ts'
import type { PlayedResult } from '../play/play.ts'
import { type ClassStats, quantile, type Stats } from './class-stats.ts'
import { chooseLimit, passes } from './elision-limit.ts'
import { PROFILE_RULES } from './profile-rules.ts'
import {
  type ClassChange,
  type Proposal,
  type ProposedChange,
  proposed,
  type Rules,
} from './proposal.ts'
import { LEAST_RESULTS, leastCharsFor, levelsFor, rememberMore } from './thresholds.ts'

/** Share of references up to which R1 switches them off. */
const MOST_UNREFERRED = 0.05
/** Markers and conversations from which on elision of a class is changed. */
const LEAST_MARKERS = 20
const LEAST_MARKER_CONVERSATIONS = 5

export interface RuleTerms {
  readonly config: PipelineConfig
  /** Stats of the half that proposals are chosen by. */
  readonly stats: Stats
  /** Results, markers and their conversations of all conversations, by class. */
  readonly all: Stats
  /** Whether results go through a proxy, whose hints are all that the model knows of them. */
  readonly isProxied: boolean
  /** Keys that others' figures set, as TOML writes them. */
  readonly priorKeys: ReadonlySet<string>
}

/** A class, and how it is set now. */
interface About extends Pick<RuleTerms, 'isProxied' | 'priorKeys'> {
  readonly stats: ClassStats
  /** The same of all conversations. */
  readonly known: ClassStats | undefined
  readonly profile: Profile
}

/** A change, and what it has an effect on. */
interface OwnChange extends ClassChange {
  readonly isTooFew?: boolean
  /** Which of the class's results are touched; all if absent. */
  when?(played: PlayedResult): boolean
  /** What must be true of the conversation too. */
  readonly also?: Proposal['touches']
}

/** Proposals of all rules, for each class those that would change something. */
export function proposeByRules(terms: RuleTerms): readonly Proposal[] {
  const { config, stats, all } = terms
  const byClass = [...stats.classes.values()].flatMap(each => {
    const { tool, args } = each.example
    const profile = resolveProfile(config, { tool, args })
    const about: About = { ...terms, stats: each, profile, known: all.classes.get(each.name) }
    return proposed(CLASS_RULES, [about], change => ofClass(about, change))
  })
  const isTooFew = all.sessions.results < LEAST_RESULTS
  return [
    ...byClass,
    ...proposed(SESSION_RULES, [stats.sessions, config], change => ({
      ...change,
      isTooFew: false,
    })),
    ...proposed(PROFILE_RULES, [stats, config.profiles], change => ({ ...change, isTooFew })),
  ]
}

function ofClass({ stats, known }: About, { key, when, also, ...change }: OwnChange) {
  const { name, example } = stats
  return {
    key: pathOfToolKey(key, name),
    example: { tool: example.tool, args: example.args },
    isTooFew: (known?.results ?? 0) < LEAST_RESULTS,
    touches: ((results, played) =>
      results.some((result, at) => result.class === name && (when?.(played[at]!) ?? true)) &&
      (also?.(results, played) ?? true)) satisfies Proposal['touches'],
    ...change,
  }
}

const CLASS_RULES: Rules<[About], OwnChange> = {
  /** References on and a longer memory, or off: by references to results and to lines. */
  R1({ stats, profile }) {
    const { results, exact, near, lines, bursts } = stats
    const share = (exact + near + lines) / results
    const evidence =
      `${results} results; references to the same ${exact}, nearly the same ${near}, lines ` +
      `${lines} (${percent(share)})`
    if (share > MOST_UNREFERRED) {
      return rememberMore(profile, share, quantile(bursts, 0.9)).map(to => ({ ...to, evidence }))
    }
    // Without a reference, memory has no effect.
    const also: Proposal['touches'] = (_, played) => played.some(({ layer }) => layer === 'L0')
    return profile.dedup.exact ? [{ key: 'dedup_enabled', to: false, evidence, also }] : []
  },

  /** A template by shape, columns and inner formats. */
  R2({ stats, profile }) {
    const [shape] = largest(stats.shapes, 1)
    const inner = largest(stats.innerFormats, 3)
    const columns = stats.columns.reduce((sum, each) => sum + each, 0) / (stats.columns.length || 1)
    const to =
      shape === 'markdown_table' && columns >= 2
        ? 'csv_from_md'
        : ['log', 'url', 'hash'].every(each => inner.includes(each))
          ? 'pipeline_deep_mckp'
          : inner.includes('diff')
            ? 'mr_diff_fence'
            : null
    if (to === null || profile.preferred !== undefined) return []
    const formats = inner.join(', ') || 'none'
    const evidence = `${stats.results} results, most ${shape}; formats in them: ${formats}`
    return [{ key: 'template_id', to, evidence }]
  },

  /** Elision off, or only of what saves much, if fetching costs more than it saves. */
  R6({ stats, known, profile, priorKeys }) {
    const { name, markers } = stats
    if (!profile.elision.enabled) {
      // Others' figures switched it off: own results can judge now.
      const key = writeKey(['endpoint_overrides', name, 'elision_enabled'])
      const evidence = `figures of others switched it off; ${known?.results ?? 0} own results now`
      return priorKeys.has(key) ? [{ key: 'elision_enabled', to: true, evidence }] : []
    }
    const limit = chooseLimit(markers)
    if (markers.length === 0 || limit.kind === 'all') return []
    const needed = markers.filter(each => each.isNeeded).length
    const [value, fetching] = (['value', 'fetching'] as const).map(figure =>
      Math.round(markers.reduce((sum, each) => sum + each[figure], 0)),
    )
    const change = {
      evidence:
        `${markers.length} markers, ${needed} needed (${percent(needed / markers.length)}); ` +
        `saves ${value} billed, fetching costs ${fetching}`,
      isTooFew:
        (known?.markers.length ?? 0) < LEAST_MARKERS ||
        new Set(known?.markers.map(each => each.conversation)).size < LEAST_MARKER_CONVERSATIONS,
      when: ({ shown, elided: saved, after: left }: PlayedResult) =>
        shown !== undefined && !passes(limit, { saved, left }),
    }
    switch (limit.kind) {
      case 'none':
        return [{ ...change, key: 'elision_enabled', to: false }]
      case 'saved':
        return [{ ...change, key: 'elision_min_saved_tokens', to: -limit.bound }]
      case 'ratio':
        return [{ ...change, key: 'max_ratio', to: limit.bound }]
    }
  },

  /** Shorter hints; a proxy's reader has only the hint, so it stays at the standard. */
  R8({ stats, profile, isProxied }) {
    const to = isProxied ? 'standard' : 'terse'
    const { verbosity } = profile.dedup
    if (stats.hints === 0 || verbosity === to || verbosity === 'terse') return []
    const evidence = `${stats.hints} hints in ${stats.results} results`
    return [{ key: 'hint_verbosity', to, evidence, when: ({ hints }) => hints > 0 }]
  },
}

const SESSION_RULES: Rules<[Stats['sessions'], PipelineConfig], ProposedChange> = {
  /** The memory of sessions, as the seed has it. */
  R3({ results, compactions, conversations }, { dedup }) {
    const mean = results / conversations
    const inPartition = results / (conversations + compactions)
    const isCompacted = compactions / results > 0.05
    const to = isCompacted ? Math.max(10, Math.ceil(inPartition * 0.2)) : mean < 20 ? 3 : 5
    if (results === 0 || to === dedup.lru_size) return []
    const evidence =
      `${compactions} compactions in ${results} results, ` +
      `${mean.toFixed(0)} results a conversation`
    return [{ key: ['dedup', 'lru_size'], to, evidence, touches: () => true }]
  },

  /** Levels of JSON, as the seed has it. */
  R4({ depths }, { mckp }) {
    const deepest = quantile(depths, 0.95)
    const to = levelsFor(deepest)
    if (depths.length === 0 || to === mckp.recursion_depth) return []
    const evidence = `95 % of ${depths.length} nested objects have at most ${deepest} levels`
    const touches: ProposedChange['touches'] = (_, played) =>
      played.some(({ shape }) => /object/.test(shape))
    return [{ key: ['mckp', 'recursion_depth'], to, evidence, touches }]
  },

  /** The shortest result that is remembered, as the seed has it. */
  R5({ bytes }, { dedup: { min_body_chars: now } }) {
    const short = quantile(bytes, 0.25)
    const to = leastCharsFor(short)
    if (bytes.length === 0 || to === now) return []
    const evidence = `a quarter of ${bytes.length} results has at most ${short} bytes`
    const touches: ProposedChange['touches'] = results =>
      results.some(({ text }) => {
        const size = Buffer.byteLength(text)
        return size >= Math.min(to, now) && size < Math.max(to, now)
      })
    return [{ key: ['dedup', 'min_body_chars'], to, evidence, touches }]
  },
}

/** The names with the highest counts. */
function largest<Name extends string>(counts: ReadonlyMap<Name, number>, most: number): Name[] {
  const sorted = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  return sorted.slice(0, most).map(([name]) => name)
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}
