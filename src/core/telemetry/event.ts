import { z } from 'zod'
import { INNER_FORMATS } from '../classify/inner-formats.ts'

/** Raised when a field changes its meaning; fields are only ever added without that. */
export const TELEMETRY_SCHEMA_VERSION = 1

/** The baseline of all percentages: the tokens of a result as its tool gave it. */
export const BASELINE = 'raw'

/** The wire names of shapes; `unknown` if nothing was classified. */
export const SHAPES = [
  'prose',
  'numbered_list',
  'bullet_list',
  'code_block',
  'markdown_table',
  'nested_object',
  'flat_object',
  'array_of_objects',
  'array_of_primitives',
  'empty',
  'unknown',
] as const

export type ShapeName = (typeof SHAPES)[number]

/** Declined calls of one result that an event tells. */
export const MAX_DECLINES = 300

/** Results that a call comes back to, of which an event tells. */
export const MAX_COMING_BACK = 100

/** Why the enricher did not fetch something ahead: SOURCES.md#planner. */
const declineReason = z.string().regex(/^[a-z_]{1,64}$/)

/** So many hexadecimal digits. */
export function hexDigits(digits: number) {
  return z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`))
}

/** Bounded, so that sums over any number of files that fit on a disk are exact. */
export const figure = z.int().nonnegative().max(1e12)
export const instant = z.int().nonnegative().max(8.64e15)
/** The characters of a name: see `anonymousName`. */
export const anonymous = z.string().regex(/^[A-Za-z0-9_]{1,128}$/)
export const sampleRate = z.number().min(0.0001).max(1)
export const share = z.number().min(0).max(1)

/**
 * One tool result on its way to an agent: the per-response event of SOURCES.md#formats, one line of
 * JSON. Its hashes are keyed with a secret of the installation and differ by tenant
 * (`createPseudonyms`), its names are made of known words and hashes (`anonymousName`,
 * `endpointClass`). Nothing of the content, the arguments or the prompt is in it.
 */
export const telemetryEvent = z
  .object({
    schema_version: z.literal(TELEMETRY_SCHEMA_VERSION),
    /** 64 bits; `NO_SESSION` if there is none. */
    session_hash: hexDigits(16),
    /** 32 bits; absent if the client does not name its calls. */
    tool_call_id_hash: hexDigits(8).optional(),
    tool_name_anon: anonymous,
    endpoint_class: anonymous,
    /** UTF-8 bytes, in spite of its name in the seed. */
    response_chars: figure,
    shape: z.enum(SHAPES),
    inner_formats: z.array(z.enum(INNER_FORMATS)).max(INNER_FORMATS.length),
    /** 128 bits, to find duplicates of the same tenant. */
    content_sha_prefix: hexDigits(32),
    /** 32 bits; present if the call is about a file. */
    file_path_hash: hexDigits(8).optional(),
    /** Whether a reference to earlier results was sent. */
    is_dedup_hit: z.boolean(),
    layer_used: z.enum(['L0', 'L1', 'L2', 'L3']),
    /** The format that the endpoint is set to, if L1 used it. */
    template_id: anonymous.optional(),
    /** Profile that counted the tokens. */
    tokenizer: anonymous,
    /** Tokens of the result as the tool gave it. */
    tokens_baseline: figure,
    /** Tokens of what was sent. */
    tokens_final: figure,
    /** Their difference, by what made it: references, formats, parts left out. */
    dedup_tokens_saved: figure,
    encoder_tokens_saved: figure,
    elided_tokens_saved: figure,
    /** Compactions of the session so far. */
    context_partition: figure,
    is_sidechain: z.boolean(),
    ts_ms: instant,
    /** The share of results that are written: each represents `1 / sample_rate_applied`. */
    sample_rate_applied: sampleRate,
    /** Columns and rows of the first table; present for `markdown_table`. */
    n_cols: figure.optional(),
    n_rows: figure.optional(),
    /** Mean overlap of the items' keys with the first one's; present for `array_of_objects`. */
    key_stability: share.optional(),
    /** Levels of nesting; present for JSON that is not empty. */
    depth: figure.optional(),
    /**
     * Different results that came between this one and the last with the same content, in the same
     * session and partition; absent if there was none. A memory of `1 + repeat_burst` results would
     * have had it.
     */
    repeat_burst: figure.optional(),
    /**
     * Endpoint classes of earlier results of which parts were left out: those whose originals were
     * fetched since the event before, and those of which this call, or one since, quotes a line
     * that was left out and that nothing else showed. A class for each result, each result once.
     */
    retrieved_of: z.array(anonymous).max(MAX_COMING_BACK).optional(),
    needed_of: z.array(anonymous).max(MAX_COMING_BACK).optional(),
    /**
     * The enricher's (SOURCES.md#planner), of offered calls: see `isOffer`. Whether it was made
     * ahead, and if so the tokens that were predicted, else why not.
     */
    enricher_prefetched: z.boolean().optional(),
    enricher_predicted_cost_tokens: figure.optional(),
    enricher_decline_reason: declineReason.optional(),
    /** Whether the agent made the same call among its next three. */
    cited_in_next_n_turns: z.boolean().optional(),
    /** Whether the result was there, or on its way, when the agent made the call. */
    enricher_served: z.boolean().optional(),
    /** What became of a call that was made ahead, and the time that its call did not wait. */
    enricher_fetch: z.enum(['served', 'joined', 'wasted']).optional(),
    enricher_saved_ms: figure.optional(),
    /** Why calls that one result offered were not made ahead, a reason for each. */
    enricher_declines: z.array(declineReason).max(MAX_DECLINES).optional(),
    /** A call that was refused after empty results, or whose result was the same again. */
    enricher_unsent: z.enum(['fail_fast', 'unchanged']).optional(),
  })
  .refine(isAccountedFor, 'what was saved is not the difference of baseline and final')

export type TelemetryEvent = z.output<typeof telemetryEvent>

/** The fields by which an event is known to be of the enricher. */
export type OfferFields =
  | 'enricher_prefetched'
  | 'enricher_decline_reason'
  | 'enricher_fetch'
  | 'enricher_declines'
  | 'enricher_unsent'

/**
 * Whether the event is of calls that were offered, made ahead, declined or not sent, and not of a
 * result that left. Totals, repeats and fingerprints pass over it.
 */
export function isOffer(event: Pick<TelemetryEvent, OfferFields>): boolean {
  return (
    event.enricher_prefetched === true ||
    event.enricher_decline_reason !== undefined ||
    event.enricher_fetch !== undefined ||
    event.enricher_declines !== undefined ||
    event.enricher_unsent !== undefined
  )
}

function isAccountedFor(event: {
  readonly tokens_baseline: number
  readonly tokens_final: number
  readonly dedup_tokens_saved: number
  readonly encoder_tokens_saved: number
  readonly elided_tokens_saved: number
}): boolean {
  const { dedup_tokens_saved, encoder_tokens_saved, elided_tokens_saved } = event
  const saved = dedup_tokens_saved + encoder_tokens_saved + elided_tokens_saved
  return saved === event.tokens_baseline - event.tokens_final
}

/**
 * The fields that are known when a response is made. The others are known when the event is
 * written.
 */
export type ResponseFacts = Omit<
  TelemetryEvent,
  'schema_version' | 'ts_ms' | 'sample_rate_applied' | 'repeat_burst'
>
