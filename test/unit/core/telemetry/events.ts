import type { ResponseFacts, TelemetryEvent } from '../../../../src/core/telemetry/event.ts'

/** What telemetry is told of a result that saved half of its tokens. */
export function factsOf(fields: Partial<ResponseFacts> = {}): ResponseFacts {
  return {
    session_hash: '0123456789abcdef',
    tool_name_anon: 'Read',
    endpoint_class: 'Read',
    response_chars: 400,
    shape: 'prose',
    inner_formats: [],
    content_sha_prefix: '0'.repeat(32),
    is_dedup_hit: false,
    layer_used: 'L2',
    tokenizer: 'o200k_base',
    tokens_baseline: 100,
    tokens_final: 50,
    dedup_tokens_saved: 0,
    encoder_tokens_saved: 50,
    elided_tokens_saved: 0,
    context_partition: 0,
    is_sidechain: false,
    ...fields,
  }
}

export function eventOf(fields: Partial<TelemetryEvent> = {}): TelemetryEvent {
  return { schema_version: 1, ...factsOf(), ts_ms: 1_000, sample_rate_applied: 1, ...fields }
}

/** Sent as a reference of 10 tokens. */
export const HIT = {
  is_dedup_hit: true,
  layer_used: 'L0',
  tokens_final: 10,
  dedup_tokens_saved: 90,
  encoder_tokens_saved: 0,
} as const satisfies Partial<ResponseFacts>
