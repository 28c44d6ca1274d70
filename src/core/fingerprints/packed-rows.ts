import { INNER_FORMATS } from '../classify/inner-formats.ts'
import { SHAPES, type ShapeName } from '../telemetry/event.ts'
import type { Fingerprint } from './fingerprint.ts'
import { type Sums, shapeFigures } from './formulas.ts'
import {
  BOUNDS,
  type Distributions,
  HISTOGRAM_NAMES,
  type HistogramName,
  PARTS,
  RATES,
} from './histograms.ts'

/**
 * Rows as numbers one after another, `ROW` for each, so that hundreds of uploads can be merged
 * without an object for each of their rows. What is `null` in a fingerprint is NaN; `dominant` and
 * `entropy` are computed from the shapes.
 */
export const FIELD = {
  calls: 0,
  chars: 1,
  dups: 2,
  cols: 3,
  rows: 4,
  stability: 5,
  first: 6,
  last: 7,
  sessions: 8,
  /** When the row was uploaded, Unix milliseconds. */
  uploaded: 9,
  /** Indexes in `INNER_FORMATS`, -1 for none. */
  formats: 10,
  shapes: 13,
} as const

const TOP = 3
export const ROW = FIELD.shapes + SHAPES.length

/** Rows and the names of their endpoints. */
export interface PackedRows extends PackedFigures {
  readonly names: readonly string[]
}

/** The figures of rows. */
export interface PackedFigures {
  /** `ROW` numbers for each row. */
  readonly numbers: Float64Array
  /** `MORE` numbers for each row: histograms, then rates; absent if no row has any. */
  readonly more?: Uint16Array | undefined
}

/** Where a histogram begins in the numbers of `more`. */
const HISTOGRAM_AT = histogramPlaces()
const RATES_AT = HISTOGRAM_NAMES.reduce((sum, name) => sum + BOUNDS[name].length, 0)
export const MORE = RATES_AT + RATES.length
/** Represents what a row does not have. */
const NONE = 0xffff
/** Rates are written in so many parts. */
const RATE_PARTS = 0xfffe

function histogramPlaces(): Readonly<Record<HistogramName, number>> {
  const places: Partial<Record<HistogramName, number>> = {}
  let at = 0
  for (const name of HISTOGRAM_NAMES) {
    places[name] = at
    at += BOUNDS[name].length
  }
  return places as Record<HistogramName, number>
}

const FORMAT_INDEX = new Map(INNER_FORMATS.map((format, index) => [format, index]))

/** @param uploaded when the row at an index was uploaded, Unix milliseconds */
export function packRows(
  rows: readonly Fingerprint[],
  uploaded: (index: number) => number,
): PackedRows {
  const numbers = new Float64Array(rows.length * ROW)
  for (const [index, row] of rows.entries()) {
    packRow(numbers, index * ROW, row, uploaded(index))
  }
  const names = rows.map(({ endpoint_class }) => endpoint_class)
  if (!rows.some(hasMore)) return { names, numbers }
  const more = new Uint16Array(rows.length * MORE).fill(NONE)
  for (const [index, row] of rows.entries()) {
    for (const name of HISTOGRAM_NAMES) {
      const parts = row[name]
      if (parts !== undefined) more.set(parts, index * MORE + HISTOGRAM_AT[name])
    }
    for (const [place, name] of RATES.entries()) {
      const rate = row[name]
      if (rate === undefined) continue
      more[index * MORE + RATES_AT + place] = Math.round(rate * RATE_PARTS)
    }
  }
  return { names, numbers, more }
}

/** Whether a row has a histogram or a rate. */
function hasMore(row: Distributions): boolean {
  return [...HISTOGRAM_NAMES, ...RATES].some(name => row[name] !== undefined)
}

/** The histograms and rates of a row. */
function unpackMore(more: Uint16Array | undefined, index: number): Distributions {
  if (more === undefined) return {}
  const found: Record<string, readonly number[] | number> = {}
  for (const name of HISTOGRAM_NAMES) {
    const at = index * MORE + HISTOGRAM_AT[name]
    if (more[at] !== NONE) found[name] = [...more.subarray(at, at + BOUNDS[name].length)]
  }
  for (const [place, name] of RATES.entries()) {
    const rate = more[index * MORE + RATES_AT + place]!
    if (rate !== NONE) found[name] = rate / RATE_PARTS
  }
  return found
}

/**
 * Writes one row.
 * @param at its place in `numbers`
 */
function packRow(numbers: Float64Array, at: number, row: Fingerprint, uploaded: number): void {
  numbers[at + FIELD.calls] = row.call_count
  numbers[at + FIELD.chars] = row.avg_response_chars
  numbers[at + FIELD.dups] = row.dup_rate
  numbers[at + FIELD.cols] = row.avg_cols ?? Number.NaN
  numbers[at + FIELD.rows] = row.avg_rows ?? Number.NaN
  numbers[at + FIELD.stability] = row.key_stability_mean ?? Number.NaN
  numbers[at + FIELD.first] = row.first_seen_ms
  numbers[at + FIELD.last] = row.last_seen_ms
  numbers[at + FIELD.sessions] = row.source_sessions
  numbers[at + FIELD.uploaded] = uploaded
  for (let place = 0; place < TOP; place += 1) {
    const format = row.inner_formats_top3[place]
    numbers[at + FIELD.formats + place] = format === undefined ? -1 : FORMAT_INDEX.get(format)!
  }
  for (let shape = 0; shape < SHAPES.length; shape += 1) {
    numbers[at + FIELD.shapes + shape] = row.shape_mix[SHAPES[shape]!] ?? 0
  }
}

/**
 * One row again; equal to the one that was packed, except for `shape_dominant` and
 * `format_entropy`, which follow from the shapes, and for rates, of which the fifth place may
 * differ.
 */
export function unpackRow({ names, numbers, more }: PackedRows, index: number): Fingerprint {
  const at = index * ROW
  const of = (field: number) => numbers[at + field]!
  const orNone = (field: number) => (Number.isNaN(of(field)) ? null : of(field))
  const shapes = numbers.subarray(at + FIELD.shapes, at + ROW)
  const mix: Partial<Record<ShapeName, number>> = {}
  for (let shape = 0; shape < shapes.length; shape += 1) {
    const part = shapes[shape]!
    if (part > 0) mix[SHAPES[shape]!] = part
  }
  const { shape_dominant, format_entropy } = shapeFigures(shapes)
  return {
    endpoint_class: names[index]!,
    call_count: of(FIELD.calls),
    avg_response_chars: of(FIELD.chars),
    shape_dominant,
    shape_mix: mix,
    dup_rate: of(FIELD.dups),
    format_entropy,
    inner_formats_top3: Array.from({ length: TOP }, (_, place) => of(FIELD.formats + place))
      .filter(format => format >= 0)
      .map(format => INNER_FORMATS[format]!),
    avg_cols: orNone(FIELD.cols),
    avg_rows: orNone(FIELD.rows),
    key_stability_mean: orNone(FIELD.stability),
    first_seen_ms: of(FIELD.first),
    last_seen_ms: of(FIELD.last),
    source_sessions: of(FIELD.sessions),
    ...unpackMore(more, index),
  }
}

const TABLE = SHAPES.indexOf('markdown_table')
const LIST = SHAPES.indexOf('array_of_objects')
/** The weight of a format by its place among a row's three. */
const PLACE_WEIGHTS = [3, 2, 1]

/**
 * Adds the means and shares of a packed row with a weight: those of tables and of arrays with the
 * weight times the share of that shape, and a format with 3, 2 or 1 times the weight by its place,
 * as rows have no more of it. Histograms and rates count for the rows that have them; that of
 * repeats with the weight times `dup_rate`. The caller adds calls and sessions.
 * @param at start of the row in `numbers`
 */
export function addWeighted(
  sums: Sums,
  { numbers, more }: PackedFigures,
  at: number,
  weight: number,
): void {
  sums.weight += weight
  sums.chars += weight * numbers[at + FIELD.chars]!
  sums.dups += weight * numbers[at + FIELD.dups]!
  sums.first = Math.min(sums.first, numbers[at + FIELD.first]!)
  sums.last = Math.max(sums.last, numbers[at + FIELD.last]!)
  const shapesAt = at + FIELD.shapes
  for (let shape = 0; shape < SHAPES.length; shape += 1) {
    sums.shapes[shape]! += weight * numbers[shapesAt + shape]!
  }
  for (let place = 0; place < PLACE_WEIGHTS.length; place += 1) {
    const format = numbers[at + FIELD.formats + place]!
    if (format >= 0) sums.formats[format]! += PLACE_WEIGHTS[place]! * weight
  }
  const cols = numbers[at + FIELD.cols]!
  if (!Number.isNaN(cols)) {
    const tables = weight * numbers[shapesAt + TABLE]!
    const rows = numbers[at + FIELD.rows]!
    sums.tables += tables
    sums.cols += tables * cols
    sums.rows += tables * (Number.isNaN(rows) ? 0 : rows)
  }
  const stability = numbers[at + FIELD.stability]!
  if (!Number.isNaN(stability)) {
    const lists = weight * numbers[shapesAt + LIST]!
    sums.lists += lists
    sums.stability += lists * stability
  }
  if (more !== undefined) addMore(sums, numbers, more, { row: at / ROW, weight })
}

function addMore(
  sums: Sums,
  numbers: Float64Array,
  more: Uint16Array,
  { row, weight }: { readonly row: number; readonly weight: number },
): void {
  const dups = numbers[row * ROW + FIELD.dups]!
  for (const name of HISTOGRAM_NAMES) {
    const at = row * MORE + HISTOGRAM_AT[name]
    if (more[at] === NONE) continue
    const own = (name === 'repeat_burst' ? weight * dups : weight) / PARTS
    const buckets = sums.buckets[name]
    for (let bucket = 0; bucket < buckets.length; bucket += 1) {
      buckets[bucket]! += own * more[at + bucket]!
    }
  }
  for (const [place, name] of RATES.entries()) {
    const rate = more[row * MORE + RATES_AT + place]!
    if (rate === NONE) continue
    sums.rates[name].weight += weight
    sums.rates[name].part += (weight * rate) / RATE_PARTS
  }
}
