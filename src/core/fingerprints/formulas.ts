import { INNER_FORMATS, type InnerFormat } from '../classify/inner-formats.ts'
import { SHAPES, type ShapeName } from '../telemetry/event.ts'
import type { Fingerprint } from './fingerprint.ts'
import {
  BOUNDS,
  type Distributions,
  HISTOGRAM_NAMES,
  type HistogramName,
  RATES,
  type RateName,
  toParts,
} from './histograms.ts'

/** Decimal places of means and shares: enough for every rule, and no more text than that. */
const PLACES = 1e6

/** Sums that fingerprints are made of; empty sums have weight 0. */
export interface Sums {
  calls: number
  weight: number
  chars: number
  dups: number
  /** By the index in `SHAPES`. */
  readonly shapes: Float64Array
  /** By the index in `INNER_FORMATS`. */
  readonly formats: Float64Array
  tables: number
  cols: number
  rows: number
  lists: number
  stability: number
  /** Weights by bucket. */
  readonly buckets: Readonly<Record<HistogramName, Float64Array>>
  /** What has a rate, and the weight of all that could have had it. */
  readonly rates: Readonly<Record<RateName, { part: number; weight: number }>>
  first: number
  last: number
  sessions: number
}

export function noSums(): Sums {
  return {
    calls: 0,
    weight: 0,
    chars: 0,
    dups: 0,
    shapes: new Float64Array(SHAPES.length),
    formats: new Float64Array(INNER_FORMATS.length),
    tables: 0,
    cols: 0,
    rows: 0,
    lists: 0,
    stability: 0,
    buckets: {
      repeat_burst: new Float64Array(BOUNDS.repeat_burst.length),
      response_chars: new Float64Array(BOUNDS.response_chars.length),
      depth: new Float64Array(BOUNDS.depth.length),
    },
    rates: {
      elided: { part: 0, weight: 0 },
      retrieved: { part: 0, weight: 0 },
      needed: { part: 0, weight: 0 },
    },
    first: Number.POSITIVE_INFINITY,
    last: 0,
    sessions: 0,
  }
}

/**
 * The fingerprint that sums give: means and shares over `weight`, the Shannon entropy of the shapes
 * in bits (SOURCES.md#formats, "Per-endpoint fingerprint"), the shape and the three inner formats
 * with the most weight (of equals, in the order of `SHAPES` and `INNER_FORMATS`). @param sums with
 * a weight above 0
 */
export function fingerprintOf(endpoint_class: string, sums: Sums): Fingerprint {
  const { weight, shapes, tables, lists } = sums
  const { shape_dominant, shape_mix, format_entropy } = shapeFigures(shapes)
  return {
    endpoint_class,
    call_count: Math.max(Math.round(sums.calls), sums.sessions),
    avg_response_chars: rounded(sums.chars / weight),
    shape_dominant,
    shape_mix,
    dup_rate: rounded(Math.min(1, sums.dups / weight)),
    format_entropy,
    inner_formats_top3: topFormats(sums.formats),
    avg_cols: tables === 0 ? null : rounded(sums.cols / tables),
    avg_rows: tables === 0 ? null : rounded(sums.rows / tables),
    key_stability_mean: lists === 0 ? null : rounded(Math.min(1, sums.stability / lists)),
    first_seen_ms: sums.first,
    last_seen_ms: sums.last,
    source_sessions: sums.sessions,
    ...distributionsOf(sums),
  }
}

function distributionsOf({ buckets, rates }: Sums): Distributions {
  const found: Record<string, readonly number[] | number> = {}
  for (const name of HISTOGRAM_NAMES) {
    const parts = toParts(buckets[name])
    if (parts !== null) found[name] = parts
  }
  for (const name of RATES) {
    const { part, weight } = rates[name]
    if (weight > 0) found[name] = rounded(Math.min(1, part / weight))
  }
  return found
}

/** The figures that follow from the weights of shapes, by the index in `SHAPES`. */
function shapeFigures(
  shapes: Float64Array,
): Pick<Fingerprint, 'shape_dominant' | 'shape_mix' | 'format_entropy'> {
  let total = 0
  for (const part of shapes) total += part
  const mix: Partial<Record<ShapeName, number>> = {}
  let entropy = 0
  let dominant = 0
  for (let index = 0; index < shapes.length; index += 1) {
    const part = shapes[index]!
    if (part === 0) continue
    const share = part / total
    mix[SHAPES[index]!] = rounded(share)
    entropy -= share * Math.log2(share)
    if (part > shapes[dominant]!) dominant = index
  }
  return {
    shape_dominant: SHAPES[dominant]!,
    shape_mix: mix,
    format_entropy: rounded(Math.max(0, entropy)),
  }
}

function topFormats(weights: Float64Array): InnerFormat[] {
  return [...weights.keys()]
    .filter(index => weights[index]! > 0)
    .sort((a, b) => weights[b]! - weights[a]! || a - b)
    .slice(0, 3)
    .map(index => INNER_FORMATS[index]!)
}

function rounded(value: number): number {
  return Math.round(value * PLACES) / PLACES
}
