import type { ObjectValue } from '../../value/value.ts'
import type { Column, Leaf } from './column.ts'
import type { Pricer } from './pricer.ts'
import type { Separator } from './syntax.ts'
import { type Layout, RowWriter } from './write-table.ts'

/** Rows that stand for the whole table. */
const SAMPLE = 24

/** In order of preference, where costs are equal. */
const SEPARATORS: readonly Separator[] = [',', '\t', '|', ' ']

const NO_LEAVES: ReadonlySet<Leaf> = new Set()

/**
 * The separator, and for each column whether a space follows it, that cost the fewest tokens on a sample
 * of the rows.
 */
export function chooseLayout(
  rows: readonly ObjectValue[],
  columns: readonly Column[],
  pricer: Pricer,
): Layout {
  const sample = sampleOf(rows)
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

function sampleOf<T>(rows: readonly T[]): readonly T[] {
  if (rows.length <= SAMPLE) return rows
  const step = rows.length / SAMPLE
  return Array.from({ length: SAMPLE }, (_, i) => rows[Math.floor(i * step)]!)
}

/** The rows, each on a line. */
export function writeRows(
  rows: readonly ObjectValue[],
  columns: readonly Column[],
  writer: RowWriter,
): string {
  for (const row of rows) {
    writer.out += '\n'
    writer.startRow()
    writer.members(columns, row)
  }
  return writer.out
}

/** Leaves whose cells are cheaper with a space in front, where the separator is none itself. */
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
