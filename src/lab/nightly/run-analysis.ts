import { createHmac } from 'node:crypto'
import { loadTelemetryKey } from '../../book/events/key-file.ts'
import { type LayersPlace, readLayers } from '../../config/layers/read-layers.ts'
import { vendorPrices } from '../../config/prices.ts'
import type { EncodeRequest } from '../../core/contract/encode.ts'
import type { VendorName } from '../../core/dialects/lookup.ts'
import { writeKey } from '../../core/pipeline/profile/key-path.ts'
import { createLocalContext } from '../../library/local-context.ts'
import { type Analysis, analyze } from '../analyze.ts'
import type { LogList } from '../logs/list-logs.ts'
import { type Conversation, readConversations } from '../play/conversation.ts'
import type { Priors } from '../rules/prior-rules.ts'
import { isPriorRule, writeRule } from '../rules/proposal.ts'
import { openTuned } from '../versions/tuned.ts'
import { type Proposals, saveProposals } from './proposals-file.ts'
import { createTunedConfig } from './tuned-config.ts'

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

export interface AnalysisResult {
  readonly conversations: readonly Conversation[]
  readonly analysis: Analysis
  readonly proposals: Proposals
}

/**
 * Analyses logs for a tenant, and keeps what the guard accepted for `tune apply`.
 * @throws ConfigError if a file of the configuration has faults
 */
export function runAnalysis(list: LogList, terms: AnalysisTerms): AnalysisResult {
  const { place, tenant, tokens, vendor, elides, fetched, sinceMs, isProxied, priors } = terms
  const key = loadTelemetryKey(place.data_dir)
  const layered = readLayers(place, { tenant })
  const current = openTuned(place.data_dir, tenant).inForce().now
  const conversations = readConversations(list, { sinceMs })
  terms.onRead?.(conversations.length)
  const analysis = analyze(conversations, {
    ...createTunedConfig(layered),
    context: createLocalContext(),
    prices: vendorPrices(vendor),
    tokens,
    elides,
    isProxied,
    fetching: { share: fetched },
    key,
    priors,
    priorKeys: new Set(
      current?.reasons.filter(each => isPriorRule(each.rule)).map(each => writeKey(each.key)),
    ),
    onPlayed: () => terms.onPlayed?.(),
  })
  const { judged, together } = analysis.judgement
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
  return { conversations, analysis, proposals }
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
