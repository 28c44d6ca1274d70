import { SHAPES } from '../telemetry/event.ts'
import type { Sums } from './formulas.ts'
import { FIELD } from './packed-rows.ts'

const TABLE = SHAPES.indexOf('markdown_table')
const LIST = SHAPES.indexOf('array_of_objects')
/** What a format counts for by its place among a row's three. */
const PLACES = [3, 2, 1]

/**
 * Adds the means and shares of a packed row with a weight: those of tables and of arrays with the
 * weight times the share of that shape, and a format with 3, 2 or 1 times the weight by its place,
 * as rows have no more of it. The caller adds calls and sessions.
 * @param at start of the row in `numbers`
 */
export function addWeighted(sums: Sums, numbers: Float64Array, at: number, weight: number): void {
  sums.weight += weight
  sums.chars += weight * numbers[at + FIELD.chars]!
  sums.dups += weight * numbers[at + FIELD.dups]!
  sums.first = Math.min(sums.first, numbers[at + FIELD.first]!)
  sums.last = Math.max(sums.last, numbers[at + FIELD.last]!)
  const shapesAt = at + FIELD.shapes
  for (let shape = 0; shape < SHAPES.length; shape += 1) {
    sums.shapes[shape]! += weight * numbers[shapesAt + shape]!
  }
  for (let place = 0; place < PLACES.length; place += 1) {
    const format = numbers[at + FIELD.formats + place]!
    if (format >= 0) sums.formats[format]! += PLACES[place]! * weight
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
}
