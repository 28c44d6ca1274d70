import { writeKey } from '../../core/pipeline/profile/key-path.ts'
import type { PipelineConfig } from '../../core/pipeline/profile/pipeline-config.ts'
import { type Profile, resolveProfile } from '../../core/pipeline/profile/resolve.ts'
import { pathOfToolKey, type ToolKey } from '../../core/pipeline/profile/tool-keys.ts'
import type { RecordedResult } from '../play/conversation.ts'
import type { PlayedResult } from '../play/play.ts'
import type { ConfigValue } from '../versions/key-path.ts'
import { type ClassStats, quantile, type Stats } from './class-stats.ts'
import { chooseLimit, type ElisionLimit, passes } from './elision-limit.ts'
import { proposeProfiles } from './profile-rules.ts'
import { type Proposal, propose, type RuleId } from './proposal.ts'
import { depthFor, LEAST_REFERRED, LEAST_RESULTS, leastCharsFor, lruFor } from './thresholds.ts'

/** Markers and conversations from which on elision of a class is changed. */
const LEAST_MARKERS = 20
const LEAST_MARKER_CONVERSATIONS = 5
const PERCENT = 100

export interface RuleTerms {
  readonly config: PipelineConfig
  /** Stats of the half that proposals are chosen by. */
  readonly stats: Stats
  /** Results, markers and their conversations of all conversations, by class. */
  readonly all: Stats
  /** Whether results go through a proxy, whose hints are all that the model knows of them. */
  readonly isProxied: boolean
  /** Keys that others' figures set, as TOML writes them; absent: none. */
  readonly priorKeys?: ReadonlySet<string>
}

/** Proposals of all rules, for each class those that would change something. */
export function proposeByRules(terms: RuleTerms): readonly Proposal[] {
  const { config, all, isProxied } = terms
  const byClass = [...terms.stats.classes.values()].flatMap(stats => {
    const { tool, args } = stats.example
    const profile = resolveProfile(config, { tool, args })
    const about: About = { stats, profile, known: all.classes.get(stats.name), isProxied }
    return [...r1(about), ...r2(about), ...r6(about), ...r6AfterPrior(about, terms), ...r8(about)]
  })
  const ofAll = [...r3(terms, config), ...r4(terms, config), ...r5(terms, config)]
  const ofProfiles = proposeProfiles(config, terms.stats).map(each => {
    return { ...each, isTooFew: all.sessions.results < LEAST_RESULTS }
  })
  return [...byClass, ...ofAll, ...ofProfiles]
}

interface About {
  readonly stats: ClassStats
  /** The same of all conversations. */
  readonly known: ClassStats | undefined
  readonly profile: Profile
  readonly isProxied: boolean
}

type Touches = Proposal['touches']
type Touched = (result: RecordedResult, played: PlayedResult) => boolean

/** Touches conversations that have such a result. */
function anyResult(isTouched: Touched): Touches {
  return (results, played) => results.some((result, at) => isTouched(result, played[at]!))
}

/** Whether a result was replaced by references. Without one, memory has no effect. */
const hasReferences: Touches = (_, played) => played.some(({ layer }) => layer === 'L0')

/** A key of the class, for whose results the change has an effect. */
function ofClass(
  rule: RuleId,
  { stats, known }: About,
  [key, to]: readonly [ToolKey, ConfigValue],
  { evidence, when, also }: ClassTerms,
): Proposal {
  const { tool, args } = stats.example
  return propose(rule, pathOfToolKey(key, stats.name), to, {
    evidence,
    example: { tool, args },
    isTooFew: (known?.results ?? 0) < LEAST_RESULTS,
    touches: (results, played) =>
      anyResult((result, each) => result.class === stats.name && (when?.(each) ?? true))(
        results,
        played,
      ) &&
      (also?.(results, played) ?? true),
  })
}

interface ClassTerms {
  readonly evidence: string
  /** Which of the class's results are touched; all if absent. */
  when?(played: PlayedResult): boolean
  /** What must be true of the conversation too. */
  readonly also?: Touches
}

const MOST_UNREFERRED = 0.05

/** References on and a longer memory, or off: by references to results, near results and lines. */
function r1(about: About): readonly Proposal[] {
  const { stats, profile } = about
  const { results, exact, near, lines, bursts } = stats
  const share = (exact + near + lines) / results
  const evidence =
    `${results} results; references to the same ${exact}, nearly the same ${near}, lines ${lines}` +
    ` (${percent(share)})`
  const isOn = profile.dedup.exact
  if (share <= MOST_UNREFERRED) {
    return isOn
      ? [ofClass('R1', about, ['dedup_enabled', false], { evidence, also: hasReferences })]
      : []
  }
  if (share < LEAST_REFERRED) return []
  const lru = lruFor(quantile(bursts, 0.9))
  const on = isOn ? [] : [ofClass('R1', about, ['dedup_enabled', true], { evidence })]
  if (lru <= profile.dedup.lruSize) return on
  return [...on, ofClass('R1', about, ['lru_size', lru], { evidence })]
}

/** A template by shape, columns and inner formats. */
function r2(about: About): readonly Proposal[] {
  const { stats, profile } = about
  const [shape] = largest(stats.shapes, 1)
  const inner = largest(stats.innerFormats, 3)
  const columns = stats.columns.reduce((sum, each) => sum + each, 0) / (stats.columns.length || 1)
  const template =
    shape === 'markdown_table' && columns >= 2
      ? 'csv_from_md'
      : ['log', 'url', 'hash'].every(each => inner.includes(each))
        ? 'pipeline_deep_mckp'
        : inner.includes('diff')
          ? 'mr_diff_fence'
          : null
  if (template === null || profile.preferred !== undefined) return []
  const formats = inner.join(', ') || 'none'
  const evidence = `${stats.results} results, most ${shape}; formats in them: ${formats}`
  return [ofClass('R2', about, ['template_id', template], { evidence })]
}

/** Elision of a class off, or only of what saves much, if fetching costs more than it saves. */
function r6(about: About): readonly Proposal[] {
  const { stats, known, profile } = about
  const { markers } = stats
  if (markers.length === 0 || !profile.elision.enabled) return []
  const isTooFew =
    (known?.markers.length ?? 0) < LEAST_MARKERS ||
    (known?.markerConversations ?? 0) < LEAST_MARKER_CONVERSATIONS
  const value = markers.reduce((sum, each) => sum + each.value, 0)
  const fetching = markers.reduce((sum, each) => sum + each.fetching, 0)
  const needed = markers.filter(each => each.isNeeded).length
  const evidence =
    `${markers.length} markers, ${needed} needed (${percent(needed / markers.length)}); ` +
    `saves ${Math.round(value)} billed, fetching costs ${Math.round(fetching)}`
  const limit = chooseLimit(markers)
  const change = changeFor(limit)
  if (change === null) return []
  const when = ({ shown, elided: saved, after: left }: PlayedResult) =>
    shown !== undefined && !passes(limit, { saved, left })
  return [{ ...ofClass('R6', about, change, { evidence, when }), isTooFew }]
}

/** Elision of a class on again, if others' figures switched it off: own results can judge now. */
function r6AfterPrior(about: About, { priorKeys }: RuleTerms): readonly Proposal[] {
  const { stats, known, profile } = about
  const key = writeKey(['endpoint_overrides', stats.name, 'elision_enabled'])
  if (profile.elision.enabled || priorKeys?.has(key) !== true) return []
  const evidence = `figures of others switched it off; ${known?.results ?? 0} own results now`
  return [ofClass('R6', about, ['elision_enabled', true], { evidence })]
}

function changeFor(limit: ElisionLimit): readonly [ToolKey, ConfigValue] | null {
  switch (limit.kind) {
    case 'all':
      return null
    case 'none':
      return ['elision_enabled', false]
    case 'saved':
      return ['elision_min_saved_tokens', limit.least]
    case 'ratio':
      return ['max_ratio', limit.most]
  }
}

/** Hints of a class shorter; a proxy's reader has only the hint, so it stays at the standard. */
function r8(about: About): readonly Proposal[] {
  const { stats, profile, isProxied } = about
  const shorter = isProxied ? 'standard' : 'terse'
  const { verbosity } = profile.dedup
  if (stats.hints === 0 || verbosity === shorter || verbosity === 'terse') return []
  const evidence = `${stats.hints} hints in ${stats.results} results`
  return [
    ofClass('R8', about, ['hint_verbosity', shorter], { evidence, when: ({ hints }) => hints > 0 }),
  ]
}

/** The memory of sessions, as the seed has it. */
function r3({ stats: { sessions } }: RuleTerms, { dedup }: PipelineConfig): readonly Proposal[] {
  const { results, compactions, conversations } = sessions
  if (results === 0) return []
  const rate = compactions / results
  const mean = results / conversations
  const inPartition = results / (conversations + compactions)
  const lru = rate > 0.05 ? Math.max(10, Math.ceil(inPartition * 0.2)) : mean < 20 ? 3 : 5
  if (lru === dedup.lru_size) return []
  const evidence =
    `${compactions} compactions in ${results} results, ` +
    `${mean.toFixed(0)} results a conversation`
  return [propose('R3', ['dedup', 'lru_size'], lru, { evidence, touches: () => true })]
}

/** Levels of JSON, as the seed has it. */
function r4({ stats: { sessions } }: RuleTerms, { mckp }: PipelineConfig): readonly Proposal[] {
  const deepest = quantile(sessions.depths, 0.95)
  const depth = depthFor(deepest)
  if (sessions.depths.length === 0 || depth === mckp.recursion_depth) return []
  const evidence = `95 % of ${sessions.depths.length} nested objects have at most ${deepest} levels`
  const touches = anyResult((_, { shape }) => /object/.test(shape))
  return [propose('R4', ['mckp', 'recursion_depth'], depth, { evidence, touches })]
}

/** The shortest result that is remembered, as the seed has it. */
function r5({ stats: { sessions } }: RuleTerms, { dedup }: PipelineConfig): readonly Proposal[] {
  const short = quantile(sessions.bytes, 0.25)
  const least = leastCharsFor(short)
  if (sessions.bytes.length === 0 || least === dedup.min_body_chars) return []
  const [from, to] = [least, dedup.min_body_chars].sort((a, b) => a - b) as [number, number]
  return [
    propose('R5', ['dedup', 'min_body_chars'], least, {
      evidence: `a quarter of ${sessions.bytes.length} results has at most ${short} bytes`,
      touches: anyResult(({ text }) => {
        const bytes = Buffer.byteLength(text)
        return bytes >= from && bytes < to
      }),
    }),
  ]
}

/** The names with the highest counts. */
function largest<Name extends string>(counts: ReadonlyMap<Name, number>, most: number): Name[] {
  const sorted = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  return sorted.slice(0, most).map(([name]) => name)
}

function percent(share: number): string {
  return `${(PERCENT * share).toFixed(1)} %`
}
