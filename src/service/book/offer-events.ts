import { hash } from 'node:crypto'
import type { CallOwner, DecidedOffer, DecidedWhere } from '../../ahead/agent-contexts.ts'
import type { EnrichmentObserver } from '../../ahead/enrichment.ts'
import type { FetchEvent } from '../../ahead/speculation.ts'
import type { Telemetry } from '../../book/events/telemetry.ts'
import { MAX_DECLINES, NO_SESSION, type ResponseFacts } from '../../core/telemetry/event.ts'
import type { Pseudonyms } from '../../core/telemetry/pseudonyms.ts'
import { resolveTokenizer } from '../../core/tokens/profiles.ts'

/** What events are written of: sizes that were predicted are in those of fetches. */
type OfferEvents = Omit<EnrichmentObserver, 'predicted'>

/**
 * Writes an event for each offered call, once it is known whether the agent made it, for each fetch
 * that has ended, for each result of whose calls some were declined, and for each unsent call.
 */
export function createOfferEvents(telemetry: Pick<Telemetry, 'record'>): OfferEvents {
  function record(
    { tenant, session }: CallOwner,
    factsOf: (pseudonyms: Pseudonyms) => Partial<ResponseFacts>,
  ): void {
    telemetry.record(tenant, pseudonyms => ({
      ...nothingOf(pseudonyms, session),
      ...factsOf(pseudonyms),
    }))
  }

  return {
    decided: (offer, where) => record(where, pseudonyms => decidedFacts(offer, where, pseudonyms)),
    fetch(event) {
      // Each that is dispatched ends, and is written then.
      if (event.kind === 'dispatched') return
      const { tenant } = event.call.scope
      const session = event.facts?.session ?? null
      record({ tenant, session }, pseudonyms => fetchFacts(event, pseudonyms))
    },
    declined: (reasons, owner) =>
      record(owner, () => ({ enricher_declines: reasons.slice(0, MAX_DECLINES) })),
    refused: owner => record(owner, () => ({ enricher_unsent: 'fail_fast' })),
    unchanged: owner => record(owner, () => ({ enricher_unsent: 'unchanged' })),
  }
}

/** The facts of no result: nothing left for a model, and nothing is saved. */
function nothingOf(pseudonyms: Pseudonyms, session: string | null): ResponseFacts {
  const name = pseudonyms.tool('none')
  return {
    session_hash: session === null ? NO_SESSION : pseudonyms.session(session),
    tool_name_anon: name,
    endpoint_class: name,
    response_chars: 0,
    shape: 'unknown',
    inner_formats: [],
    is_dedup_hit: false,
    layer_used: 'L3',
    content_sha_prefix: pseudonyms.content(hash('sha256', '')),
    tokenizer: resolveTokenizer({}),
    tokens_baseline: 0,
    tokens_final: 0,
    dedup_tokens_saved: 0,
    encoder_tokens_saved: 0,
    elided_tokens_saved: 0,
    context_partition: 0,
    is_sidechain: false,
  }
}

/** What was fetched is the baseline. */
function decidedFacts(
  { key, isUsed, offered: { server, tool, reason, landed } }: DecidedOffer,
  { isKept }: DecidedWhere,
  pseudonyms: Pseudonyms,
): Partial<ResponseFacts> {
  return {
    ...callFacts(pseudonyms, server, tool, key, landed?.tokens ?? 0),
    response_chars: landed?.bytes ?? 0,
    cited_in_next_n_turns: isUsed,
    ...(reason === undefined
      ? { enricher_prefetched: true, enricher_served: isUsed && isKept }
      : { enricher_decline_reason: reason }),
  }
}

function fetchFacts(
  { kind, call: { scope, tool, args }, facts, bytes, savedMs }: FetchEvent,
  pseudonyms: Pseudonyms,
): Partial<ResponseFacts> {
  const actual = facts?.actual ?? null
  return {
    ...callFacts(pseudonyms, scope.upstream, tool, facts?.key ?? args, actual ?? 0),
    response_chars: bytes,
    ...(kind === 'dispatched' ? {} : { enricher_fetch: kind }),
    enricher_saved_ms: Math.max(0, Math.round(savedMs)),
    ...(facts === undefined || actual === null
      ? {}
      : { enricher_predicted_cost_tokens: facts.predicted }),
  }
}

function callFacts(
  pseudonyms: Pseudonyms,
  server: string,
  tool: string,
  key: string,
  tokens: number,
): Partial<ResponseFacts> {
  const name = pseudonyms.tool(`mcp__${server}__${tool}`)
  return {
    tool_name_anon: name,
    endpoint_class: name,
    // The digest is of the call: its result is not the model's.
    content_sha_prefix: pseudonyms.content(hash('sha256', key)),
    tokens_baseline: tokens,
    tokens_final: tokens,
  }
}
