import { BACKSLASH, PIPE } from '../../json/char-codes.ts'

/** Alignment of a column, by the colons of its delimiter cell: none, left, centre, right. */
export type Alignment = '-' | 'l' | 'c' | 'r'

/** A table with the lines it came from. Cells are trimmed, pipes in them not escaped. */
export interface MarkdownTable {
  /** Spaces before every line. */
  readonly indent: string
  /** `\r` if the lines end with CRLF. */
  readonly eol: '' | '\r'
  readonly header: readonly string[]
  readonly alignments: readonly Alignment[]
  readonly rows: readonly (readonly string[])[]
  readonly lines: readonly string[]
}

/** A part of a text: a line outside tables, or a table. */
export type MarkdownPart = string | MarkdownTable

/**
 * The lines of a text with its tables recognised (GFM, with a pipe at the start of each line): not
 * inside fences, and only if all lines have the same indentation and line ends. A small scanner,
 * since tables and fences are all that is needed; the Markdown around them is kept as it is.
 */
export function readMarkdown(text: string): readonly MarkdownPart[] {
  const lines = text.split('\n')
  const parts: MarkdownPart[] = []
  let fence: string | null = null
  for (let at = 0; at < lines.length; ) {
    const line = lines[at]!
    const mark = fenceMark(line)
    if (fence !== null) {
      if (mark?.startsWith(fence) && line.trim() === mark) fence = null
    } else if (mark !== null) fence = mark
    const table = fence === null && mark === null ? readTable(lines, at) : null
    parts.push(table ?? line)
    at += table?.lines.length ?? 1
  }
  return parts
}

/** The backticks or tildes of a line that opens or closes a fence, else `null`. */
export function fenceMark(line: string): string | null {
  const match = /^ {0,12}(?:[-*>] {0,3})?(`{3,}|~{3,})/.exec(line)
  return match?.[1] ?? null
}

function readTable(lines: readonly string[], start: number): MarkdownTable | null {
  const first = lines[start]!
  const delimiter = lines[start + 1]
  const indent = indentOf(first)
  if (first.charCodeAt(indent.length) !== PIPE || delimiter === undefined) return null
  const eol = first.endsWith('\r') ? '\r' : ''
  const isRow = (line: string): boolean =>
    line.startsWith(indent) && line.charCodeAt(indent.length) === PIPE && line.endsWith(eol)
  if (!isRow(delimiter)) return null
  const alignments = readAlignments(splitRow(delimiter, indent.length))
  const header = splitRow(first, indent.length)
  if (alignments === null || alignments.length !== header.length) return null
  const rows: (readonly string[])[] = []
  let end = start + 2
  for (; end < lines.length && isRow(lines[end]!); end++) {
    rows.push(splitRow(lines[end]!, indent.length))
  }
  return { indent, eol, header, alignments, rows, lines: lines.slice(start, end) }
}

function indentOf(line: string): string {
  let at = 0
  while (line[at] === ' ') at++
  return line.slice(0, at)
}

/**
 * The cells of a row whose first pipe is at `start`. A backslash takes its meaning from the next
 * character.
 */
function splitRow(line: string, start: number): string[] {
  const cells: string[] = []
  let from = start + 1
  for (let at = from; at < line.length; at++) {
    const c = line.charCodeAt(at)
    if (c === BACKSLASH) at++
    else if (c === PIPE) {
      cells.push(unescapeCell(line.slice(from, at)))
      from = at + 1
    }
  }
  const rest = unescapeCell(line.slice(from))
  if (rest !== '') cells.push(rest)
  return cells
}

function unescapeCell(cell: string): string {
  return cell.trim().replaceAll('\\|', '|')
}

function readAlignments(cells: readonly string[]): Alignment[] | null {
  const alignments: Alignment[] = []
  for (const cell of cells) {
    const left = cell.startsWith(':') ? 1 : 0
    const right = cell.length > 1 && cell.endsWith(':') ? 1 : 0
    const dashes = cell.length - left - right
    if (dashes < 1 || cell.slice(left, left + dashes) !== '-'.repeat(dashes)) return null
    alignments.push(left ? (right ? 'c' : 'l') : right ? 'r' : '-')
  }
  return alignments.length === 0 ? null : alignments
}
