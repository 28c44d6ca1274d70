import { z } from 'zod'
import { INNER_FORMATS } from '../classify/inner-formats.ts'
import { SHAPES, type ShapeName } from '../telemetry/event.ts'
import { BOUNDS, type HistogramName, PARTS } from './histograms.ts'

/** The version of documents and uploads: raised when a field changes its meaning. */
export const FINGERPRINTS_VERSION = 1 as const

/** Sessions that every figure which leaves an installation is of, at least. */
export const LEAST_SESSIONS = 5

export const WINDOW_DAYS = 30
export const DAY_MS = 86_400_000

/** Bounded, so that sums over all members are exact. */
const count = z.int().nonnegative().max(1e11)
/** The same for such sums. */
const total = z.int().nonnegative()
const mean = z.number().min(0).max(1e12)
const share = z.number().min(0).max(1)
const instant = z.int().nonnegative().max(8.64e15)

/** Names of endpoints: no path, no space, no character that has a meaning in a command. */
export const endpointName = z
  .string()
  .regex(/^\w[\w.:-]{0,127}$/)
  .describe('git_log, curl, mcp__p1a2b3c__get_issue, …')

/** A mean that does not exist if no response had its shape. */
const meanOrNone = mean.nullable().default(null)

/** Tolerance for the sum of shares, because they are written with few digits. */
const MIX_TOLERANCE = 0.01

/** A column that is not in a file is `null`. */
function optional<Value>(schema: z.ZodType<Value>) {
  // A transform behind the schema could not be described in `/openapi.json`.
  return z.preprocess(value => value ?? undefined, schema.optional()).optional()
}

function histogram(name: HistogramName) {
  const buckets = BOUNDS[name].length
  const parts = z
    .array(z.int().min(0).max(PARTS))
    .length(buckets)
    .refine(all => all.reduce((sum, part) => sum + part, 0) === PARTS, `must add up to ${PARTS}`)
  return optional(parts.readonly())
}

const shapeMix = z
  .strictObject({
    prose: share.optional(),
    numbered_list: share.optional(),
    bullet_list: share.optional(),
    code_block: share.optional(),
    markdown_table: share.optional(),
    nested_object: share.optional(),
    flat_object: share.optional(),
    array_of_objects: share.optional(),
    array_of_primitives: share.optional(),
    empty: share.optional(),
    unknown: share.optional(),
  } satisfies Record<ShapeName, z.ZodType>)
  .refine(mix => {
    const sum = Object.values(mix).reduce<number>((total, part = 0) => total + part, 0)
    return Math.abs(sum - 1) <= MIX_TOLERANCE
  }, 'the shares must add up to 1')

/**
 * Properties of the responses of one endpoint in a span of time: the per-endpoint fingerprint of
 * SOURCES.md#formats, field for field. The formulas are in docs/reference/telemetry.md.
 */
export const fingerprintSchema = z
  .object({
    endpoint_class: endpointName,
    call_count: count,
    /** UTF-8 bytes, in spite of its name in the seed. */
    avg_response_chars: mean,
    shape_dominant: z.enum(SHAPES),
    shape_mix: shapeMix,
    dup_rate: share,
    /** In bits: 0 to log2 of the number of shapes. */
    format_entropy: z
      .number()
      .min(0)
      .max(Math.log2(SHAPES.length) + 1e-6),
    inner_formats_top3: z.array(z.enum(INNER_FORMATS)).max(3),
    /** Means over responses that are Markdown tables. */
    avg_cols: meanOrNone,
    avg_rows: meanOrNone,
    /** The mean over responses that are arrays of objects. */
    key_stability_mean: share.nullable().default(null),
    first_seen_ms: instant,
    last_seen_ms: instant,
    source_sessions: count,
    /** Histograms by the buckets of `BOUNDS`, in ten thousandths. */
    repeat_burst: histogram('repeat_burst'),
    response_chars: histogram('response_chars'),
    depth: histogram('depth'),
    /** Shares of the responses: see `RATES`. */
    elided: optional(share),
    retrieved: optional(share),
    needed: optional(share),
  })
  .refine(({ first_seen_ms, last_seen_ms }) => first_seen_ms <= last_seen_ms, {
    path: ['last_seen_ms'],
    message: 'must not be before first_seen_ms',
  })
  .refine(({ call_count, source_sessions }) => call_count >= source_sessions, {
    path: ['call_count'],
    message: 'must not be below source_sessions: each of them has a call',
  })

export type Fingerprint = Readonly<z.output<typeof fingerprintSchema>>

/** The sum of many rows. */
export const summedFingerprintSchema = fingerprintSchema.safeExtend({
  call_count: total,
  source_sessions: total,
})

/** The answer for many members: `stale` if none of them has uploaded lately. */
export const mergedFingerprintSchema = summedFingerprintSchema.safeExtend({
  stale: z.boolean().describe('No upload of the last 14 days has it'),
})

export type MergedFingerprint = Fingerprint & { readonly stale: boolean }

/**
 * Limits of uploads and documents. Times are in milliseconds. With these sizes a document can be
 * read at once.
 */
export const LIMITS = {
  /** Rows of one upload: 2,000 endpoints with the spans of a window each. */
  rows: 10_000,
  /** Members of one team. */
  members: 1_000,
  /** Endpoints in one document; those of the most sessions. */
  endpoints: 20_000,
  /** How far an upload's clock may be ahead. */
  skewMs: 3_600_000,
  /** After that an upload counts only if no fresher one has the endpoint. */
  freshMs: 14 * DAY_MS,
  /** After that it is gone. */
  keptMs: WINDOW_DAYS * DAY_MS,
} as const

/**
 * The day of a moment, in UTC. A time in milliseconds would be that of a single call in a single
 * session.
 */
export function dayOf(moment: number): number {
  return Math.floor(moment / DAY_MS) * DAY_MS
}

/** Orders endpoints by code units, which is the same everywhere. */
export function byName(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
