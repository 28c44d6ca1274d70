import { typedText } from '../../../base/typed-text.ts'
import type { ObjectValue } from '../../../json/value.ts'
import { jsonLength } from '../../../json/write-json.ts'
import { createGaps, type Gap, type Gaps, leavesOf, NO_GAPS } from './cell-gaps.ts'
import type { Column, Leaf } from './column.ts'
import type { Pricer } from './pricer.ts'
import { type SeparatedCells, sampleCells } from './sample-cells.ts'
import { INNER_SEPARATOR, type Separator } from './syntax.ts'
import { createLayout, type Layout, type RowWriter } from './write-table.ts'

/**
 * Rows that represent the whole table, and their length as JSON at most. In longer rows separators
 * matter less.
 */
const SAMPLE = 24
const SAMPLE_CHARS = 16_000

/** In order of preference, for equal costs. */
const SEPARATORS: readonly Separator[] = [',', '\t', '|', ' ']

const [DIGIT_0, DIGIT_9] = [0x30, 0x39]

const NO_LEAVES: ReadonlySet<Leaf> = new Set()

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
  const spaces = new SpaceChooser(pricer)
  let fewest = Number.POSITIVE_INFINITY
  let best = createLayout(',', { shapes })
  let written: SeparatedCells | undefined
  let betweenSpaces: SeparatedCells['texts'] = new Map()
  for (const separator of SEPARATORS) {
    const separated = cells.between(separator)
    const spaced = spaces.spacedLeaves(separated.texts, separator)
    const tokens = pricer.tokens(separated.counted(spaced))
    if (separator === ' ') betweenSpaces = separated.texts
    if (tokens < fewest) {
      fewest = tokens
      best = createLayout(separator, {
        spaced,
        gaps: separator === ' ' ? createGaps(columns, NO_GAPS) : undefined,
        shapes,
      })
      written = separated
    }
  }
  const gaps = withCommas(columns, betweenSpaces, spaces)
  if (gaps !== null && pricer.tokens(cells.mixed(gaps)) < fewest) {
    return { layout: createLayout(' ', { gaps, shapes }), rows: notWritten, hasGaps: undefined }
  }
  const isWhole = sample.length === rows.length
  return {
    layout: best,
    rows: () => (isWhole ? written!.rows(best.spaced) : null),
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
  spaces: SpaceChooser,
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
  const spaced = spaces.spacedLeaves(after, ',')
  const gaps = new Map<Leaf, Gap>()
  for (const leaf of after.keys()) gaps.set(leaf, spaced.has(leaf) ? ', ' : ',')
  return createGaps(columns, gaps)
}

function sampleOf(rows: readonly ObjectValue[]): readonly ObjectValue[] {
  const step = Math.max(1, rows.length / SAMPLE)
  const all: ObjectValue[] = []
  for (let at = 0; at < rows.length; at += step) all.push(rows[Math.floor(at)]!)
  // With its brackets and commas; measured at once, which is how most samples are short enough.
  const most = SAMPLE_CHARS + all.length + 1
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
  const spaced = new SpaceChooser(pricer).spacedLeaves(cells.texts, INNER_SEPARATOR)
  const layout = createLayout(INNER_SEPARATOR, { spaced })
  return { layout, sample, tokens: pricer.tokens(cells.counted(spaced)) }
}

/** The cells of a shape stand in its parentheses, so that a single object is no row of its own. */
function writeMembers(writer: RowWriter, columns: readonly Column[], object: ObjectValue): boolean {
  writer.startRow()
  writer.members(columns, object)
  return true
}

/** The cells of a leaf with a space before each, and their tokens. */
interface WideCells {
  readonly texts: readonly string[]
  readonly tokens: number
}

/** Chooses the spaces before the cells of one table. */
class SpaceChooser {
  readonly #pricer: Pricer
  readonly #wide = new Map<Leaf, WideCells>()

  constructor(pricer: Pricer) {
    this.#pricer = pricer
  }

  /** Leaves whose cells are cheaper with a space in front, if the separator is no space itself. */
  spacedLeaves(
    cells: ReadonlyMap<Leaf, readonly string[]>,
    separator: Separator,
  ): ReadonlySet<Leaf> {
    if (separator === ' ') return NO_LEAVES
    const spaced = new Set<Leaf>()
    for (const [leaf, texts] of cells) {
      if (texts.every(startsWithDigit)) continue
      const wide = this.#wideTokens(leaf, texts, separator)
      if (wide < this.#pricer.tokens(rowsAfter(separator, texts))) spaced.add(leaf)
    }
    return spaced
  }

  /**
   * The tokens of the cells with a separator and a space before each. A piece ends between the two,
   * and each separator is a token, so the tokens are the same for all of them:
   * docs/internals/tree-counting.md.
   */
  #wideTokens(leaf: Leaf, texts: readonly string[], separator: Separator): number {
    const known = this.#wide.get(leaf)
    if (known?.texts === texts) return known.tokens
    const tokens = this.#pricer.tokens(rowsAfter(`${separator} `, texts))
    if (this.#pricer.additive && texts.every(startsWithAscii))
      this.#wide.set(leaf, { texts, tokens })
    return tokens
  }
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
