import type { TokenCounter } from '../tokens/counter.ts'
import type { ElisionHint, Hint, HintFamily, Verbosity } from './hint.ts'
import { hintLine } from './hint-line.ts'

/** The calls that a note on a search chain looks at; the answered one is the last of them. */
export const CHAIN_CALLS = 7

/** So many searches among them are a chain (SOURCES.md#views, "Multi-Query Search": 5 of 7). */
export const CHAIN_SEARCHES = 5

/** The `[hints]` section of the configuration, with the verbosity. */
export interface HintsPolicy {
  readonly enabled: boolean
  readonly default_verbosity: Verbosity
  /**
   * The rule of each family. A family without a rule is sent to every model whenever it saves
   * enough, unless it is only sent where it is asked for.
   */
  readonly types: { readonly [F in HintFamily]?: HintRule }
}

export interface HintRule {
  readonly enabled: boolean
  readonly max_per_session?: number
  /** Results from one with hints of the family to the next one that may have some. */
  readonly interval_results?: number
  /**
   * Model ids; `*` at the end represents any characters. Alone it represents any model, also a
   * nameless one.
   */
  readonly applies_to_models: readonly string[]
}

/** The hints of a family that answers before this one brought to the session. */
export interface SentHints {
  /** How many of them had some. */
  sentInSession(family: HintFamily): number
  /** Results since the last one of them: 1 if that was the result before, `Infinity` if none. */
  resultsSince(family: HintFamily): number
}

export const NONE_SENT: SentHints = { sentInSession: () => 0, resultsSince: () => Infinity }

/**
 * Families that only a rule of their own switches on, and how far apart their hints then are. Else
 * each further search of a chain would have one.
 */
const ONLY_BY_RULE: { readonly [F in HintFamily]?: Pick<HintRule, 'interval_results'> } = {
  search_chain: { interval_results: CHAIN_CALLS },
}

/** Whether hints of a family may be sent, as far as its rule says. */
export function isOn(family: HintFamily, rule: Pick<HintRule, 'enabled'> | undefined): boolean {
  return rule?.enabled ?? ONLY_BY_RULE[family] === undefined
}

/** `interval_results` of a family. */
export function intervalOf(family: HintFamily): number | undefined {
  return ONLY_BY_RULE[family]?.interval_results
}

/** The context of one answer's hints. */
export interface HintContext extends SentHints {
  readonly model?: string
}

/** The saving of a hint, and the counter of its tokens. */
export interface HintGain {
  /**
   * Tokens that the hint saves: those that are not sent, or those of a call that the agent need not
   * make.
   */
  readonly saved_tokens: number
  readonly counter: TokenCounter
  /**
   * The format that this endpoint's answers usually have. A format hint that names it is not
   * needed.
   */
  readonly usual?: string
  /** How the hint is written; absent: as the policy says. */
  readonly verbosity?: Verbosity
}

/** Decides about every hint of one answer. */
export interface HintGate {
  /**
   * Returns the line to send. If it is `null`, the hint must not be sent, and nothing that needs it
   * may be left out. So call this before anything is omitted. An admitted hint must be sent.
   */
  admit(hint: Hint, gain: HintGain): string | null
  /**
   * Returns a function that writes the marker of an omission. A budget forces the omission, so the
   * marker stays whatever it saves. Returns `null` if no marker may be sent: then nothing may be
   * left out. Counts one marker if there is one.
   */
  admitMarker(): ((marker: ElisionHint) => string | null) | null
}

/**
 * The least saving, in multiples of the hint's own tokens (SOURCES.md#formats, "Hint cost model").
 */
export const BREAK_EVEN = 4

/** The one place that lets hints out: make one for each answer. */
export function createHintGate(policy: HintsPolicy, context: HintContext): HintGate {
  const admitted = new Map<HintFamily, number>()

  function isAllowed(family: HintFamily): boolean {
    const rule = policy.types[family]
    if (!policy.enabled || !isOn(family, rule)) return false
    if (rule === undefined) return true
    if (!rule.applies_to_models.some(pattern => matches(pattern, context.model))) return false
    const { max_per_session: most = Infinity, interval_results: interval = 1 } = rule
    if (interval > 1 && context.resultsSince(family) < interval) return false
    if (most === Infinity) return true
    return context.sentInSession(family) + (admitted.get(family) ?? 0) < most
  }

  function count(family: HintFamily): void {
    admitted.set(family, (admitted.get(family) ?? 0) + 1)
  }

  return {
    admit(hint, { saved_tokens: saved, counter, usual, verbosity = policy.default_verbosity }) {
      if (!isAllowed(hint.family) || isNeedless(hint, usual)) return null
      const line = hintLine(hint, verbosity)
      if (line === null || !(saved > BREAK_EVEN * counter.count(line))) return null
      count(hint.family)
      return line
    },
    admitMarker() {
      if (!isAllowed('elision')) return null
      count('elision')
      return marker => hintLine(marker, policy.default_verbosity)
    },
  }
}

/** Whether the reader does not need the hint. */
function isNeedless(hint: Hint, usual: string | undefined): boolean {
  if (hint.family === 'metadata') return hint.total <= hint.returned
  return hint.family === 'format' && hint.format === usual
}

function matches(pattern: string, model: string | undefined): boolean {
  if (!pattern.endsWith('*')) return pattern === model
  return pattern === '*' || (model?.startsWith(pattern.slice(0, -1)) ?? false)
}
