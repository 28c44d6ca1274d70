import type { ObjectValue } from '../../../json/value.ts'
import { jsonLength } from '../../../json/write-json.ts'
import type { Column, Leaf } from './column.ts'
import type { Pricer } from './pricer.ts'
import type { Separator } from './syntax.ts'
import { type Layout, RowWriter } from './write-table.ts'

/**
 * Rows that represent the whole table, and how long they may be as JSON: long rows hang less on
 * separators.
 */
const SAMPLE = 24
const SAMPLE_CHARS = 16_000

/** In order of preference, for equal costs. */
const SEPARATORS: readonly Separator[] = [',', '\t', '|', ' ']

const NO_LEAVES: ReadonlySet<Leaf> = new Set()

/**
 * The separator, and for each column whether a space follows it, that cost the fewest tokens on a
 * sample of the rows.
 */
export function chooseLayout(
  rows: readonly ObjectValue[],
  columns: readonly Column[],
  pricer: Pricer,
): Layout {
  const sample = sampleOf(rows)
  if (sample.length === 0) return { separator: ',', spaced: NO_LEAVES }
  let best: Layout = { separator: ',', spaced: NO_LEAVES }
  let fewest = Number.POSITIVE_INFINITY
  for (const separator of SEPARATORS) {
    const spaced = spacedLeaves(sample, columns, separator, pricer)
    const layout = { separator, spaced }
    const tokens = pricer.tokens(writeRows(sample, columns, new RowWriter(layout)))
    if (tokens < fewest) {
      fewest = tokens
      best = layout
    }
  }
  return best
}

function sampleOf(rows: readonly ObjectValue[]): readonly ObjectValue[] {
  const step = Math.max(1, rows.length / SAMPLE)
  const sample: ObjectValue[] = []
  let left = SAMPLE_CHARS
  for (let at = 0; at < rows.length; at += step) {
    const row = rows[Math.floor(at)]!
    left -= jsonLength(row, left)
    if (left < 0) break
    sample.push(row)
  }
  return sample
}

/** The rows, each on a line. */
function writeRows(
  rows: readonly ObjectValue[],
  columns: readonly Column[],
  writer: RowWriter,
): string {
  for (const row of rows) {
    writer.out += '\n'
    writer.row(columns, row)
  }
  return writer.out
}

/** Leaves whose cells are cheaper with a space in front, if the separator is none itself. */
function spacedLeaves(
  rows: readonly ObjectValue[],
  columns: readonly Column[],
  separator: Separator,
  pricer: Pricer,
): ReadonlySet<Leaf> {
  const tight = new Map<Leaf, string>()
  const wide = new Map<Leaf, string>()
  const writer = new RowWriter({ separator, spaced: NO_LEAVES })
  writer.observe = (leaf, text) => {
    tight.set(leaf, `${tight.get(leaf) ?? ''}${separator}${text}\n`)
    wide.set(leaf, `${wide.get(leaf) ?? ''}${separator} ${text}\n`)
  }
  if (separator === ' ') return NO_LEAVES
  writeRows(rows, columns, writer)
  const spaced = new Set<Leaf>()
  for (const [leaf, text] of tight) {
    if (pricer.tokens(wide.get(leaf)!) < pricer.tokens(text)) spaced.add(leaf)
  }
  return spaced
}
