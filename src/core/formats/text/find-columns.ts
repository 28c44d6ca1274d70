import { SPACE } from '../../json/char-codes.ts'
import {
  type ColumnLayout,
  type ColumnPlace,
  longestOf,
  placeColumns,
  writeAligned,
} from './column-layout.ts'

/** Neighbouring lines in aligned columns. */
export interface AlignedLines {
  readonly layout: ColumnLayout
  /** The cells of each line; `null` for a line that the layout does not give. */
  readonly rows: readonly (readonly string[] | null)[]
}

/** Columns are looked for in so many characters of a line; the last column has the rest. */
const MAX_EDGE = 400
const MAX_COLUMNS = 40
/** Share of the lines that may have text where others have a gap, because a cell is too long. */
const MAX_DRIFT = 0.12
/** Share of a column's cells that stand at the same edge. */
const MIN_ALIGNED = 0.8
/** Share of the lines that the layout has to give. */
const MIN_GIVEN = 0.6

/** The columns of these lines, or `null`. Linear. */
export function findColumns(lines: readonly string[]): AlignedLines | null {
  const spans = mergeLoose(lines, findSpans(lines))
  if (spans.length < 2 || spans.length > MAX_COLUMNS) return null
  let best: AlignedLines | null = null
  let most = lines.length * MIN_GIVEN - 1
  const cut = lines.map(line => cutAt(line, spans))
  const isPadded = lines.some(line => line.endsWith(' '))
  for (const padded of isPadded ? [false, true] : [false]) {
    const found = layOut(lines, cut, spans, padded)
    const given = found.rows.filter(row => row !== null).length
    if (given <= most) continue
    most = given
    best = found
  }
  return best
}

/** Edges of a column, and how its cells stand in it. */
interface Span {
  readonly start: number
  readonly end: number
  readonly align: 'l' | 'r'
  readonly share: number
}

/** Runs of positions between gaps: positions at which nearly all lines have a space. */
function findSpans(lines: readonly string[]): readonly { start: number; end: number }[] {
  const filled = new Uint32Array(MAX_EDGE)
  let edge = 0
  for (const line of lines) {
    const end = Math.min(line.length, MAX_EDGE)
    edge = Math.max(edge, end)
    for (let at = 0; at < end; at++) if (line.charCodeAt(at) !== SPACE) filled[at]!++
  }
  const allowed = Math.floor(lines.length * MAX_DRIFT)
  const spans: { start: number; end: number }[] = []
  let start = -1
  for (let at = 0; at <= edge; at++) {
    const isGap = at === edge || filled[at]! <= allowed
    if (!isGap && start === -1) start = at
    if (!isGap || start === -1) continue
    spans.push({ start, end: at })
    start = -1
  }
  return spans
}

/** Joins each span whose cells do not stand at one edge with the span before it. */
function mergeLoose(
  lines: readonly string[],
  found: readonly { start: number; end: number }[],
): readonly Span[] {
  const spans: Span[] = []
  for (let at = found.length - 1; at >= 0; at--) {
    const { start } = found[at]!
    let { end } = found[at]!
    let span = alignmentOf(lines, start, end)
    // What follows is loose: it is the rest of this column.
    while (spans.length > 0 && spans.at(-1)!.share < MIN_ALIGNED) {
      end = spans.pop()!.end
      span = alignmentOf(lines, start, end)
    }
    spans.push(span)
  }
  return spans.reverse()
}

function alignmentOf(lines: readonly string[], start: number, end: number): Span {
  let cells = 0
  let left = 0
  let right = 0
  for (const line of lines) {
    const cell = line.slice(start, end)
    if (cell.trim() === '') continue
    cells++
    if (isWordStart(line, start)) left++
    if (isWordEnd(line, end)) right++
  }
  const align = left >= right ? 'l' : 'r'
  return { start, end, align, share: Math.max(left, right) / Math.max(1, cells) }
}

function isWordStart(line: string, at: number): boolean {
  return line.charCodeAt(at) !== SPACE && (at === 0 || line.charCodeAt(at - 1) === SPACE)
}

function isWordEnd(line: string, at: number): boolean {
  return line.charCodeAt(at - 1) !== SPACE && (at >= line.length || line.charCodeAt(at) === SPACE)
}

/** The cells of a line by position; the last one has the rest of the line. */
function cutAt(line: string, spans: readonly Span[]): readonly string[] {
  return spans.map((span, at) => {
    const from = at === 0 ? 0 : spans[at - 1]!.end
    const to = at === spans.length - 1 ? line.length : span.end
    return line.slice(from, to).trim()
  })
}

/** The cells of a line whose first ones are a word each; `null` if it has fewer words. */
function cutWords(line: string, columns: number): readonly string[] | null {
  const cells: string[] = []
  let at = 0
  while (cells.length < columns - 1) {
    while (line.charCodeAt(at) === SPACE) at++
    let end = line.indexOf(' ', at)
    if (end === -1) end = line.length
    if (end === at) return null
    cells.push(line.slice(at, end))
    at = end
  }
  cells.push(line.slice(at).trim())
  return cells
}

function layOut(
  lines: readonly string[],
  cut: readonly (readonly string[])[],
  spans: readonly Span[],
  padded: boolean,
): AlignedLines {
  const rows = lines.map((line, at) => {
    const byPosition = cut[at]!
    if (isGiven(line, byPosition, spans, padded)) return byPosition
    const byWords = cutWords(line, spans.length)
    return byWords !== null && isGiven(line, byWords, spans, padded) ? byWords : null
  })
  const longest = longestCells(rows, spans.length)
  const edge = padded ? lines.reduce((most, line) => Math.max(most, line.length), 0) : 0
  const layout = layoutOf(spans, longest, edge)
  const places = placeColumns(layout, longest)
  // The padding of the last column depends on its longest cell, which is known only now.
  const given = rows.map((row, at) =>
    row !== null && writeAligned(row, places, padded, lines[at]!.length) === lines[at] ? row : null,
  )
  // A reader finds the places from the rows that are left, so these must be the same.
  const left = longestCells(given, spans.length)
  const isSame = left.every((length, at) => length === longest[at])
  return { layout, rows: isSame ? given : rows.map(() => null) }
}

/** The length of the longest cell of each column, of the lines that have cells. */
export function longestCells(rows: AlignedLines['rows'], columns: number): readonly number[] {
  return longestOf(
    rows.filter(row => row !== null),
    columns,
  )
}

function isGiven(
  line: string,
  cells: readonly string[],
  places: readonly ColumnPlace[],
  padded: boolean,
): boolean {
  const written = writeAligned(cells, places, false, line.length)
  return written === (padded ? line.trimEnd() : line)
}

/**
 * Gaps and widths that give the edges again; a width only if the longest cell is another.
 * @param padding to which all lines have spaces; 0 if they have none at their ends
 */
function layoutOf(
  spans: readonly Span[],
  longest: readonly number[],
  padding: number,
): ColumnLayout {
  let edge = 0
  const columns = spans.map(({ start, end, align }, at) => {
    const isLast = at === spans.length - 1
    const next = isLast ? Number.POSITIVE_INFINITY : spans[at + 1]!.start
    const least = at === 0 ? 0 : 1
    const natural = align === 'l' ? start : end - longest[at]!
    const room = align === 'l' ? start + longest[at]! < next : natural >= edge + least
    if (room) {
      const gap = natural - edge
      edge = natural + longest[at]!
      const width = padding - natural
      if (isLast && width > longest[at]! && width < MAX_EDGE) return { gap, align, width }
      return { gap, align }
    }
    const gap = align === 'l' ? start - edge : least
    const from = edge + gap
    const width = end - from
    edge = end
    return { gap, align, width }
  })
  return { columns, padded: padding > 0 }
}
