import { typedText } from '../../../base/typed-text.ts'
import type { ObjectValue } from '../../../json/value.ts'
import { jsonLength, LONGEST_ESCAPE, leastJsonLength } from '../../../json/write-json.ts'
import { createGaps, type Gap, type Gaps, leavesOf, NO_GAPS } from './cell-gaps.ts'
import type { Column, Leaf } from './column.ts'
import type { Pricer } from './pricer.ts'
import { type SeparatedCells, sampleCells } from './sample-cells.ts'
import { INNER_SEPARATOR, type Separator } from './syntax.ts'
import { createLayout, type Layout, RowWriter } from './write-table.ts'

/**
 * Rows that represent the whole table, and their length as JSON at most. In longer rows separators
 * matter less.
 */
const SAMPLE = 24
const SAMPLE_CHARS = 16_000

/** In order of preference, for equal costs. */
const SEPARATORS: readonly Separator[] = [',', '\t', '|', ' ']

const [DIGIT_0, DIGIT_9] = [0x30, 0x39]

const NO_LEAVES: Set<Leaf> = new Set()

/** A layout, and the rows in it if they were written to find it. */
export interface ChosenLayout {
  readonly layout: Layout
  /** A line for each row, each with a line feed before it; `null` if they must be written. */
  rows(this: void): string | null
  /** Whether the rows have gaps; `undefined`: their text shows whether they may. */
  readonly hasGaps: boolean | undefined
}

const notWritten = () => null

/**
 * The separator, and for each column whether a space follows it, that cost the fewest tokens on a
 * sample of the rows.
 */
export function chooseLayout(
  rows: readonly ObjectValue[],
  columns: readonly Column[],
  pricer: Pricer,
): ChosenLayout {
  const sample = sampleOf(rows)
  const { additive, shapes } = pricer
  if (sample.length === 0) {
    return { layout: createLayout(',', { shapes }), rows: notWritten, hasGaps: undefined }
  }
  const cells = sampleCells(sample, columns, { additive, shapes })
  const separated = SEPARATORS.map(separator => cells.between(separator))
  const texts = separated.map(each => each.texts)
  const spaces = spacedLeaves(texts, SEPARATORS, pricer)
  const tokens = pricer.tokensOf(separated.map((each, i) => each.counted(spaces[i]!)))
  const fewest = tokens.indexOf(Math.min(...tokens))
  const separator = SEPARATORS[fewest]!
  const best = createLayout(separator, {
    spaced: spaces[fewest]!,
    gaps: separator === ' ' ? createGaps(columns, NO_GAPS) : undefined,
    shapes,
  })
  const written = separated[fewest]!
  const gaps = withCommas(columns, texts[SEPARATORS.indexOf(' ')]!, pricer)
  const mixed = gaps === null ? null : createLayout(' ', { gaps, shapes })
  const isMixed =
    mixed !== null &&
    tokensIn(mixed, sample, columns, pricer) < tokensIn(best, sample, columns, pricer)
  if (isMixed) return { layout: mixed, rows: notWritten, hasGaps: undefined }
  const isWhole = sample.length === rows.length
  return {
    layout: best,
    rows: () => (isWhole ? written.rows(best.spaced) : null),
    hasGaps: cells.hasGaps,
  }
}

/** The part of a column's cells that must need quotes between spaces, for a comma after them. */
const QUOTED = 0.25

/**
 * The gaps of spaces between cells, and commas after columns of phrases; `null` if there is none.
 * @param texts the cells between spaces
 */
function withCommas(
  columns: readonly Column[],
  texts: SeparatedCells['texts'],
  pricer: Pricer,
): Gaps | null {
  const leaves = leavesOf(columns)
  const after = new Map<Leaf, readonly string[]>()
  for (let i = 0; i + 1 < leaves.length; i++) {
    const cells = texts.get(leaves[i]!) ?? []
    const quoted = cells.filter(text => text.startsWith('"')).length
    if (quoted > 0 && quoted >= cells.length * QUOTED) {
      after.set(leaves[i + 1]!, texts.get(leaves[i + 1]!) ?? [])
    }
  }
  if (after.size === 0) return null
  const [spaced] = spacedLeaves([after], [','], pricer)
  const gaps = new Map<Leaf, Gap>()
  for (const leaf of after.keys()) gaps.set(leaf, spaced!.has(leaf) ? ', ' : ',')
  return createGaps(columns, gaps)
}

/** Tokens of rows in a layout. */
function tokensIn(
  layout: Layout,
  rows: readonly ObjectValue[],
  columns: readonly Column[],
  pricer: Pricer,
): number {
  const writer = new RowWriter(layout)
  for (const row of rows) {
    writer.out += '\n'
    writer.row(columns, row)
  }
  return pricer.tokens(writer.out)
}

function sampleOf(rows: readonly ObjectValue[]): readonly ObjectValue[] {
  const step = Math.max(1, rows.length / SAMPLE)
  const all: ObjectValue[] = []
  for (let at = 0; at < rows.length; at += step) all.push(rows[Math.floor(at)]!)
  // With its brackets and commas; measured at once, which is how most samples are short enough.
  const most = SAMPLE_CHARS + all.length + 1
  if (leastJsonLength(all, most) * LONGEST_ESCAPE <= most) return all
  if (jsonLength(all, most) <= most) return all
  const sample: ObjectValue[] = []
  let left = SAMPLE_CHARS
  for (const row of all) {
    left -= jsonLength(row, left)
    if (left < 0) break
    sample.push(row)
  }
  return sample
}

/** The layout of a shape, and a sample of its objects with the tokens of their cells. */
export interface ShapeLayout {
  readonly layout: Layout
  readonly sample: readonly ObjectValue[]
  /** Of all cells of the sample with the commas between them, and a line feed for each object. */
  readonly tokens: number
}

/**
 * The layout of the cells of a shape, which commas separate: the leaves whose cells are cheaper
 * with a space in front.
 */
export function layoutOfShape(
  objects: readonly ObjectValue[],
  columns: readonly Column[],
  pricer: Pricer,
): ShapeLayout {
  const short = sampleOf(objects)
  const sample = short.length === 0 ? objects.slice(0, 1) : short
  const cells = sampleCells(sample, columns, { write: writeMembers }).between(INNER_SEPARATOR)
  const [spaced] = spacedLeaves([cells.texts], [INNER_SEPARATOR], pricer)
  const layout = createLayout(INNER_SEPARATOR, { spaced: spaced! })
  return { layout, sample, tokens: pricer.tokens(cells.counted(spaced!)) }
}

/** The cells of a shape stand in its parentheses, so that a single object is no row of its own. */
function writeMembers(writer: RowWriter, columns: readonly Column[], object: ObjectValue): boolean {
  writer.startRow()
  writer.members(columns, object)
  return true
}

/** The cells of a leaf after a separator, and which texts are counted to compare them. */
interface Compared {
  readonly leaf: Leaf
  /** Index of the separator. */
  readonly of: number
  readonly tight: number
  readonly wide: number
}

/**
 * For each separator the leaves whose cells are cheaper with a space in front; none if it is a
 * space itself. All texts are counted at once, since most are short.
 * @param cells for each separator the cells of each leaf
 */
function spacedLeaves(
  cells: readonly SeparatedCells['texts'][],
  separators: readonly Separator[],
  pricer: Pricer,
): readonly ReadonlySet<Leaf>[] {
  const texts: string[] = []
  const compared: Compared[] = []
  const known = new Map<Leaf, WideCells>()
  for (const [of, separator] of separators.entries()) {
    if (separator === ' ') continue
    for (const [leaf, own] of cells[of]!) {
      if (own.every(startsWithDigit)) continue
      const tight = texts.push(rowsAfter(separator, own)) - 1
      const before = known.get(leaf)
      const wide =
        before?.texts === own ? before.wide : texts.push(rowsAfter(`${separator} `, own)) - 1
      if (before?.texts !== own && pricer.additive && own.every(startsWithAscii)) {
        known.set(leaf, { texts: own, wide })
      }
      compared.push({ leaf, of, tight, wide })
    }
  }
  const spaced: Set<Leaf>[] = separators.map(() => NO_LEAVES)
  if (compared.length === 0) return spaced
  const tokens = pricer.tokensOf(texts)
  for (const { leaf, of, tight, wide } of compared) {
    if (tokens[wide]! >= tokens[tight]!) continue
    const leaves = spaced[of]!
    spaced[of] = leaves === NO_LEAVES ? new Set([leaf]) : leaves.add(leaf)
  }
  return spaced
}

/**
 * The cells of a leaf, and the index of their text with a separator and a space before each. A
 * piece ends between the two, and each separator is a token, so the tokens are the same for all of
 * them: docs/internals/tree-counting.md.
 */
interface WideCells {
  readonly texts: readonly string[]
  readonly wide: number
}

/** A line for each cell, with a text before it. */
function rowsAfter(before: string, cells: readonly string[]): string {
  return `${before}${cells.join(`\n${before}`)}\n`
}

/** No tokenizer has a token of a space and a digit: a space before a number is one of its own. */
function startsWithDigit(text: string): boolean {
  const first = typedText(text).charCodeAt(0)
  return first >= DIGIT_0 && first <= DIGIT_9
}

/** Beyond ASCII a cell may begin with white space, which a tab would be joined with. */
function startsWithAscii(text: string): boolean {
  return typedText(text).charCodeAt(0) < 0x80
}
