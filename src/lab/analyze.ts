import { splitByHash } from './guard/halves.ts'
import { type Judgement, type JudgeOptions, judge } from './guard/judge.ts'
import { markersOf } from './guard/outcome.ts'
import { createPlays, type Plays, type PlayTerms } from './guard/plays.ts'
import type { Conversation } from './play/conversation.ts'
import { collectStats, type Seen, type Stats } from './rules/class-stats.ts'
import { type Priors, proposeByPriors } from './rules/prior-rules.ts'
import { proposeByRules } from './rules/rules.ts'

export interface AnalyzeTerms extends PlayTerms, JudgeOptions {
  readonly isProxied: boolean
  /** Others' figures of endpoint classes; absent: none. */
  readonly priors?: Priors
  /** Keys of the tuned file that such figures set, as TOML writes them; absent: none. */
  readonly priorKeys?: ReadonlySet<string>
  /** Called after each conversation that was played. */
  onPlayed?(): void
}

export interface Analysis {
  readonly stats: Stats
  readonly judgement: Judgement
  readonly plays: Plays
}

/**
 * Plays conversations as the configuration has them now, lets the rules propose by one half of
 * them, and judges the proposals by the other.
 */
export function analyze(conversations: readonly Conversation[], terms: AnalyzeTerms): Analysis {
  const { configWith, isProxied, priors = new Map(), priorKeys = new Set() } = terms
  const plays = createPlays(terms)
  const seen = conversations.map((conversation): Seen => {
    const outcome = plays.outcome(conversation)
    terms.onPlayed?.()
    const markers = markersOf(conversation, outcome, terms.fetching, terms.prices)
    return { conversation, played: outcome.played, markers }
  })
  const chosen = new Set(splitByHash(conversations, terms.key).chosen)
  const stats = collectStats(seen)
  const ofHalf = collectStats(seen.filter(({ conversation }) => chosen.has(conversation)))
  const config = configWith([])
  const proposals = [
    ...proposeByRules({ config, stats: ofHalf, all: stats, isProxied, priorKeys }),
    ...proposeByPriors({ config, priors, all: stats, fetched: terms.fetching.share }),
  ]
  return { stats, judgement: judge(conversations, proposals, plays, terms), plays }
}
