import type { ObjectValue } from '../../../json/value.ts'
import { jsonLength } from '../../../json/write-json.ts'
import type { Column, Leaf } from './column.ts'
import type { Pricer } from './pricer.ts'
import type { Separator } from './syntax.ts'
import { type Layout, RowWriter } from './write-table.ts'

/**
 * Rows that represent the whole table, and their length as JSON at most. In longer rows separators
 * matter less.
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
    const tight = writeTight(sample, columns, separator)
    const spaced = spacedLeaves(tight, separator, pricer)
    const layout = { separator, spaced }
    const tokens = pricer.tokens(
      withSpaces(tight, spaced) ?? writeRows(sample, columns, new RowWriter(layout)),
    )
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

/** Rows without a space between a separator and a cell. */
interface TightRows {
  readonly text: string
  /** What each leaf's cells contain. */
  readonly cells: ReadonlyMap<Leaf, readonly string[]>
  /**
   * The leaves of the cells after a separator, and where these cells begin in `text`. `null` if
   * there are cells within cells, or rows that are written as themselves.
   */
  readonly starts: readonly (readonly [leaf: Leaf, at: number])[] | null
}

function writeTight(
  rows: readonly ObjectValue[],
  columns: readonly Column[],
  separator: Separator,
): TightRows {
  const cells = new Map<Leaf, string[]>()
  const starts: [Leaf, number][] = []
  const writer = new RowWriter({ separator, spaced: NO_LEAVES })
  writer.observe = (leaf, text, at) => {
    const known = cells.get(leaf)
    if (known === undefined) cells.set(leaf, [text])
    else known.push(text)
    if (at !== null) starts.push([leaf, at])
  }
  let isFlat = !hasRowsColumn(columns)
  for (const row of rows) {
    writer.out += '\n'
    if (!writer.row(columns, row)) isFlat = false
  }
  return { text: writer.out, cells, starts: isFlat ? starts : null }
}

function hasRowsColumn(columns: readonly Column[]): boolean {
  return columns.some(
    column => column.kind === 'rows' || (column.kind === 'group' && hasRowsColumn(column.columns)),
  )
}

/** Leaves whose cells are cheaper with a space in front, if the separator is not a space itself. */
function spacedLeaves(
  { cells }: TightRows,
  separator: Separator,
  pricer: Pricer,
): ReadonlySet<Leaf> {
  if (separator === ' ') return NO_LEAVES
  const spaced = new Set<Leaf>()
  for (const [leaf, texts] of cells) {
    const tight = `${separator}${texts.join(`\n${separator}`)}\n`
    const wide = `${separator} ${texts.join(`\n${separator} `)}\n`
    if (pricer.tokens(wide) < pricer.tokens(tight)) spaced.add(leaf)
  }
  return spaced
}

/** The rows with a space before each cell of these leaves; `null` if it is not known where. */
function withSpaces({ text, starts }: TightRows, spaced: ReadonlySet<Leaf>): string | null {
  if (spaced.size === 0) return text
  if (starts === null) return null
  let out = ''
  let written = 0
  for (const [leaf, at] of starts) {
    if (!spaced.has(leaf)) continue
    out += `${text.slice(written, at)} `
    written = at
  }
  return out + text.slice(written)
}
