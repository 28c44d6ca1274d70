import { hash } from 'node:crypto'
import type { DecidedEvent, EnrichmentObserver } from '../../ahead/enrichment.ts'
import type { FetchEvent, OfferedFacts } from '../../ahead/prefetch.ts'
import type { Telemetry } from '../../book/events/telemetry.ts'
import { MAX_DECLINES, NO_SESSION, type ResponseFacts } from '../../core/telemetry/event.ts'
import type { Pseudonyms } from '../../core/telemetry/pseudonyms.ts'
import { resolveTokenizer } from '../../core/tokens/profiles.ts'

/**
 * Writes an event for each offered call, once it is known whether the agent made it, for each fetch
 * that has ended, for each result of whose calls some were declined, and for each unsent call.
 * Sizes that were predicted are in those of fetches.
 */
export function createOfferEvents(telemetry: Pick<Telemetry, 'record'>): EnrichmentObserver {
  function record(
    tenant: string,
    session: string | null,
    factsOf: (pseudonyms: Pseudonyms) => Partial<ResponseFacts>,
  ): void {
    telemetry.record(tenant, pseudonyms => ({
      ...nothingOf(pseudonyms, session),
      ...factsOf(pseudonyms),
    }))
  }

  return event => {
    switch (event.kind) {
      case 'dispatched': // Each ends, and is written then.
      case 'predicted':
        break
      case 'decided':
        record(event.tenant, event.session, pseudonyms => decidedFacts(event, pseudonyms))
        break
      case 'declined': {
        const reasons = event.reasons.slice(0, MAX_DECLINES)
        record(event.tenant, event.session, () => ({ enricher_declines: reasons }))
        break
      }
      case 'refused':
        record(event.tenant, event.session, () => ({ enricher_unsent: 'fail_fast' }))
        break
      case 'unchanged':
        record(event.tenant, event.session, () => ({ enricher_unsent: 'unchanged' }))
        break
      default: {
        const { call, facts, kind } = event
        record(call.scope.tenant, facts.session, pseudonyms => ({
          ...fetchFacts(event, pseudonyms),
          enricher_fetch: kind,
        }))
      }
    }
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
  { offer: { facts, isUsed }, isKept }: DecidedEvent,
  pseudonyms: Pseudonyms,
): Partial<ResponseFacts> {
  const { reason, landed } = facts
  return {
    ...callFacts(facts, pseudonyms),
    response_chars: landed?.bytes ?? 0,
    cited_in_next_n_turns: isUsed,
    ...(reason === undefined
      ? { enricher_prefetched: true, enricher_served: isUsed && isKept }
      : { enricher_decline_reason: reason }),
  }
}

function fetchFacts(
  { facts, bytes, savedMs }: FetchEvent,
  pseudonyms: Pseudonyms,
): Partial<ResponseFacts> {
  return {
    ...callFacts(facts, pseudonyms),
    response_chars: bytes,
    enricher_saved_ms: Math.max(0, Math.round(savedMs)),
    ...(facts.landed === undefined ? {} : { enricher_predicted_cost_tokens: facts.predicted }),
  }
}

function callFacts(
  { server, tool, key, landed }: OfferedFacts,
  pseudonyms: Pseudonyms,
): Partial<ResponseFacts> {
  const name = pseudonyms.tool(`mcp__${server}__${tool}`)
  const tokens = landed?.tokens ?? 0
  return {
    tool_name_anon: name,
    endpoint_class: name,
    // The digest is of the call: its result is not the model's.
    content_sha_prefix: pseudonyms.content(hash('sha256', key)),
    tokens_baseline: tokens,
    tokens_final: tokens,
  }
}
