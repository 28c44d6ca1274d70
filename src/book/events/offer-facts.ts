import { hash } from 'node:crypto'
import type { ResponseFacts } from '../../core/telemetry/event.ts'
import type { Pseudonyms } from '../../core/telemetry/pseudonyms.ts'
import { NO_SESSION } from '../../core/telemetry/pseudonyms.ts'
import { resolveTokenizer } from '../../core/tokens/profiles.ts'
import type { ArrivedOffer } from '../arrivals.ts'

/** The facts of no result: nothing left for a model, and nothing is saved. */
export function offerFacts(
  { session, call, facts }: Omit<ArrivedOffer, 'tenant' | 'at'>,
  pseudonyms: Pseudonyms,
): ResponseFacts {
  const name = pseudonyms.tool(call === undefined ? 'none' : `mcp__${call.server}__${call.tool}`)
  return {
    session_hash: session === null ? NO_SESSION : pseudonyms.session(session),
    tool_name_anon: name,
    endpoint_class: name,
    response_chars: 0,
    shape: 'unknown',
    inner_formats: [],
    is_dedup_hit: false,
    layer_used: 'L3',
    // The digest is of the call: its result is not the model's.
    content_sha_prefix: pseudonyms.content(hash('sha256', call?.key ?? '')),
    tokenizer: resolveTokenizer({}),
    tokens_baseline: call?.tokens ?? 0,
    tokens_final: call?.tokens ?? 0,
    dedup_tokens_saved: 0,
    encoder_tokens_saved: 0,
    elided_tokens_saved: 0,
    context_partition: 0,
    is_sidechain: false,
    ...facts,
  }
}
