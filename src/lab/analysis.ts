import { createHmac } from 'node:crypto'
import { loadTelemetryKey } from '../book/events/key-file.ts'
import { type LayersPlace, readLayers } from '../config/layers/read-layers.ts'
import { vendorPrices } from '../config/prices.ts'
import type { EncodeRequest } from '../core/contract/encode.ts'
import type { VendorName } from '../core/dialects/lookup.ts'
import { writeKey } from '../core/pipeline/profile/key-path.ts'
import { createLocalContext } from '../library/local-context.ts'
import { type Judgement, judge, splitByHash } from './guard/judge.ts'
import { type Outcome, Plays } from './guard/plays.ts'
import type { LogList } from './logs/list-logs.ts'
import { type Conversation, readConversations } from './play/conversation.ts'
import { collectStats, type Stats } from './rules/class-stats.ts'
import { type Priors, proposeByPriors } from './rules/prior-rules.ts'
import { isPriorRule, writeRule } from './rules/proposal.ts'
import { proposeByRules } from './rules/rules.ts'
import { type Proposals, saveProposals } from './versions/proposals.ts'
import { Tuned } from './versions/tuned.ts'
import { createTunedConfig } from './versions/tuned-config.ts'

export interface AnalysisTerms {
  readonly place: LayersPlace
  readonly tenant: string
  readonly tokens: Pick<EncodeRequest, 'tokenizer' | 'model'>
  readonly vendor: VendorName
  readonly elides: boolean
  /** Share of a needed result's text that is fetched. */
  readonly fetched: number
  readonly sinceMs: number
  readonly isProxied: boolean
  /** Others' figures of endpoint classes. */
  readonly priors: Priors
  /** Called when the logs are read, and after each conversation that was played. */
  onRead?(conversations: number): void
  onPlayed?(): void
}

export interface Analysis {
  /** Conversations as they are played now. */
  readonly seen: readonly Outcome[]
  readonly stats: Stats
  readonly judgement: Judgement
  readonly proposals: Proposals
}

/**
 * Plays conversations as the configuration has them now, lets the rules propose by one half of
 * them, judges the proposals by the other, and keeps what was accepted for `tune apply`.
 * @throws ConfigError if a file of the configuration has faults
 */
export function analyze(list: LogList, terms: AnalysisTerms): Analysis {
  const { place, tenant, tokens, elides, fetched, sinceMs, isProxied, priors } = terms
  const key = loadTelemetryKey(place.data_dir)
  const layered = readLayers(place, { tenant })
  const { configWith, isShadowed } = createTunedConfig(layered)
  const current = new Tuned(place.data_dir, tenant).inForce().now
  const conversations = readConversations(list, { sinceMs })
  terms.onRead?.(conversations.length)
  const prices = vendorPrices(terms.vendor)
  const context = createLocalContext()
  const plays = new Plays({ context, prices, tokens, elides, fetched, configWith })
  const seen = conversations.map(conversation => {
    const outcome = plays.outcome(conversation)
    terms.onPlayed?.()
    return outcome
  })
  const chosen = new Set(splitByHash(conversations, key).chosen)
  const all = collectStats(seen)
  const stats = collectStats(seen.filter(({ conversation }) => chosen.has(conversation)))
  const config = configWith([])
  const priorReasons = current?.reasons.filter(each => isPriorRule(each.rule)) ?? []
  const priorKeys = new Set(priorReasons.map(each => writeKey(each.key)))
  const proposed = [
    ...proposeByRules({ config, stats, all, isProxied, priorKeys }),
    ...proposeByPriors({ config, priors, all, fetched }),
  ]
  const judgement = judge(conversations, proposed, {
    key,
    isShadowed,
    costOf: (conversation, changes) => plays.outcome(conversation, changes).cost,
  })
  const { judged, together } = judgement
  const proposals: Proposals = {
    created_at: new Date().toISOString(),
    onto: current?.id ?? null,
    generation: layered.generation,
    inputs: digestOf(conversations, key),
    ...(together?.isAccepted ? { effect: { before: together.before, after: together.after } } : {}),
    changes: judged
      .filter(({ verdict }) => verdict === 'applies' || verdict === 'prior')
      .map(({ proposal }) => {
        const { key: path, to, evidence } = proposal
        return { key: path, to, rule: writeRule(proposal), evidence }
      }),
  }
  saveProposals(place.data_dir, tenant, proposals)
  return { seen, stats: all, judgement, proposals }
}

/** Keyed, since a plain digest would confirm a guess of the content. */
function digestOf(conversations: readonly Conversation[], key: Uint8Array): string {
  const digest = createHmac('sha256', key)
  for (const { id, results } of conversations) {
    digest.update(JSON.stringify([id, results.length]))
    for (const { text } of results) digest.update(text)
  }
  return digest.digest('hex')
}
