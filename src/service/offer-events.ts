import { hash } from 'node:crypto'
import type { ResponseFacts } from '../core/telemetry/event.ts'
import { createPseudonyms, type Pseudonyms } from '../core/telemetry/pseudonyms.ts'
import { writeFacts } from '../core/telemetry/response-facts.ts'
import { resolveTokenizer } from '../core/tokens/profiles.ts'
import type { DecidedOffer, DecidedWhere } from '../enrich/agent-contexts.ts'
import type { EnrichmentObserver } from '../enrich/enrichment.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'

/** Tenants whose hashes are at hand. */
const MAX_TENANTS = 1_000

/** Writes an event for each offered call, once it is known whether the agent made it. */
export function createOfferEvents(
  telemetry: Pick<Telemetry, 'record'>,
  key: Uint8Array,
): EnrichmentObserver['decided'] {
  const tenants = new Map<string, Pseudonyms>()
  return (offer, where) => {
    const { tenant } = where
    const pseudonyms = tenants.get(tenant) ?? createPseudonyms(key, tenant)
    if (tenants.size >= MAX_TENANTS) tenants.clear()
    tenants.set(tenant, pseudonyms)
    telemetry.record(tenant, writeFacts(offerFacts(offer, where, pseudonyms)))
  }
}

/** Nothing of it left for a model: what was fetched is the baseline, and nothing is saved on it. */
function offerFacts(
  { key, isUsed, offered: { server, tool, predicted, reason, landed } }: DecidedOffer,
  { session, isKept }: DecidedWhere,
  pseudonyms: Pseudonyms,
): ResponseFacts {
  const name = pseudonyms.tool(`mcp__${server}__${tool}`)
  const tokens = landed?.tokens ?? 0
  return {
    session_hash: session === null ? pseudonyms.unnamed : pseudonyms.session(session),
    ...{ tool_name_anon: name, endpoint_class: name },
    response_chars: landed?.bytes ?? 0,
    ...{ shape: 'unknown', inner_formats: [], is_dedup_hit: false, layer_used: 'L3' },
    // Of the call: its result is not the model's.
    content_sha_prefix: pseudonyms.content(hash('sha256', key)),
    tokenizer: resolveTokenizer({}),
    ...{ tokens_baseline: tokens, tokens_final: tokens },
    ...{ dedup_tokens_saved: 0, encoder_tokens_saved: 0, elided_tokens_saved: 0 },
    ...{ context_partition: 0, is_sidechain: false, cited_in_next_n_turns: isUsed },
    ...(reason === undefined
      ? { enricher_prefetched: true, enricher_served: isUsed && isKept }
      : { enricher_decline_reason: reason }),
    ...(landed === undefined ? {} : { enricher_predicted_cost_tokens: predicted }),
  }
}
