import { INNER_FORMATS } from '../classify/inner-formats.ts'
import { SHAPES } from '../telemetry/event.ts'
import type { Fingerprint } from './fingerprint.ts'
import type { Sums } from './formulas.ts'
import { HISTOGRAM_NAMES, PARTS, RATES } from './histograms.ts'

/** The weight of a format by its place among a row's three. */
const PLACE_WEIGHTS = [3, 2, 1]

/**
 * Adds the means and shares of a row with a weight: those of tables and of arrays with the weight
 * times the share of that shape, and a format with 3, 2 or 1 times the weight by its place, as rows
 * have no more of it. Histograms and rates count for the rows that have them; that of repeats with
 * the weight times `dup_rate`. The caller adds calls and sessions.
 */
export function addWeighted(sums: Sums, row: Fingerprint, weight: number): void {
  const { shape_mix, dup_rate, avg_cols, avg_rows, key_stability_mean } = row
  sums.weight += weight
  sums.chars += weight * row.avg_response_chars
  sums.dups += weight * dup_rate
  sums.first = Math.min(sums.first, row.first_seen_ms)
  sums.last = Math.max(sums.last, row.last_seen_ms)
  for (const [index, shape] of SHAPES.entries()) {
    sums.shapes[index]! += weight * (shape_mix[shape] ?? 0)
  }
  for (const [place, format] of row.inner_formats_top3.entries()) {
    sums.formats[INNER_FORMATS.indexOf(format)]! += PLACE_WEIGHTS[place]! * weight
  }
  if (avg_cols !== null) {
    const tables = weight * (shape_mix.markdown_table ?? 0)
    sums.tables += tables
    sums.cols += tables * avg_cols
    sums.rows += tables * (avg_rows ?? 0)
  }
  if (key_stability_mean !== null) {
    const lists = weight * (shape_mix.array_of_objects ?? 0)
    sums.lists += lists
    sums.stability += lists * key_stability_mean
  }
  for (const name of HISTOGRAM_NAMES) {
    const own = (name === 'repeat_burst' ? weight * dup_rate : weight) / PARTS
    for (const [bucket, part] of row[name]?.entries() ?? [])
      sums.buckets[name][bucket]! += own * part
  }
  for (const name of RATES) {
    const rate = row[name]
    if (rate === undefined) continue
    sums.rates[name].weight += weight
    sums.rates[name].part += weight * rate
  }
}
