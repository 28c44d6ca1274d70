import { decodedTooLong, notDecodable } from '../not-decodable.ts'
import { countOf } from '../work.ts'
import { type Alignment, type MarkdownTable, readMarkdown } from './markdown-tables.ts'
import { findLayout, layOut, layoutWord, readLayout, type TableLayout } from './table-layout.ts'
import type { TextFormat, WrittenText } from './text-format.ts'

/**
 * Markdown whose tables are CSV in fences, in place; everything else unchanged. The padding of a
 * table is its style, so that decoding gives the same text, character for character. A table whose
 * layout is not known stays unchanged.
 */
export const markdown: TextFormat = createMarkdown({ minCols: 1 })

/** The same format, in which tables with fewer columns stay unchanged. Reading is the same. */
export function createMarkdown({ minCols }: { readonly minCols: number }): TextFormat {
  return {
    id: 'md',
    version: 1,
    onlyNamed: true,
    accepts: (_, { shape, inner_formats }) =>
      shape === 'markdown_table' || inner_formats.includes('md_table'),
    steps: text => countOf(text, '\n|') * ROW_STEPS + countOf(text, '|') * CELL_STEPS,
    encode: text => encode(text, minCols),
    decode,
  }
}

const FENCE = '```'
/** The line that opens a table: its indentation, and its alignments if one is not the default. */
const OPENER = /^( *)```csv(?: ([-lcr]+))?(\r?)$/
const LAYOUT_SEPARATOR = ','
/** Steps of a row of a table and of a cell. */
const ROW_STEPS = 1200
const CELL_STEPS = 350
/** Longest style: a format is at most 128 characters. Tables beyond it stay as they are. */
const MAX_STYLE_CHARS = 100

function encode(text: string, minCols: number): readonly WrittenText[] {
  const out: string[] = []
  const layouts: string[] = []
  let joined = 0
  let uniform = true
  for (const part of readMarkdown(text)) {
    if (typeof part === 'string') {
      if (OPENER.test(part)) return []
      out.push(part)
      continue
    }
    const found = part.header.length < minCols ? null : findLayout(part)
    const layout = found === null ? null : layoutWord(found)
    const length = joined + (layout?.length ?? 0) + 1
    const isUniform: boolean = uniform && layout === (layouts[0] ?? layout)
    if (layout === null || (!isUniform && length > MAX_STYLE_CHARS)) {
      for (const line of part.lines) out.push(line)
      continue
    }
    layouts.push(layout)
    joined = length
    uniform = isUniform
    writeTable(part, out)
  }
  if (layouts.length === 0) return []
  return [{ content: out.join('\n'), style: styleOf(layouts) }]
}

/** One word for all tables, or a word for each. */
function styleOf(layouts: readonly string[]): string {
  const first = layouts[0]!
  return layouts.every(layout => layout === first) ? first : layouts.join(LAYOUT_SEPARATOR)
}

function writeTable({ indent, eol, header, alignments, rows }: MarkdownTable, out: string[]): void {
  const letters = alignments.join('')
  const isPlain = alignments.every(alignment => alignment === '-')
  out.push(`${indent}${FENCE}csv${isPlain ? '' : ` ${letters}`}${eol}`)
  for (const row of [header, ...rows]) out.push(writeTextRow(row) + eol)
  out.push(FENCE + eol)
}

function decode(content: string, style: string, maxChars: number): string {
  const layouts = style.split(LAYOUT_SEPARATOR).map(readLayout)
  const lines = content.split('\n')
  const out: string[] = []
  let tables = 0
  let length = 0
  let offset = 0
  for (let at = 0; at < lines.length; at++) {
    const opener = OPENER.exec(lines[at]!)
    let added: readonly string[] = [lines[at]!]
    if (opener !== null) {
      const [, indent = '', letters, eol = ''] = opener
      const end = lines.indexOf(FENCE + eol, at + 1)
      const layout = layouts[layouts.length === 1 ? 0 : tables]
      if (end < at + 2 || layout === undefined)
        throw notDecodable(content, offset, 'a table expected')
      const rows = lines
        .slice(at + 1, end)
        .map(line => readTextRow(line.slice(0, line.length - eol.length)))
      const table = tableOf(rows, letters, layout, maxChars - length)
      if (table === null) throw notDecodable(content, offset, 'rows of a table expected')
      added = table.map(line => indent + line + eol)
      tables++
      for (; at < end; at++) offset += lines[at]!.length + 1
    }
    for (const line of added) {
      out.push(line)
      length += line.length + 1
    }
    if (length - 1 > maxChars) throw decodedTooLong(maxChars)
    offset += lines[at]!.length + 1
  }
  return out.join('\n')
}

function tableOf(
  [header, ...rows]: readonly (readonly string[] | null)[],
  letters: string | undefined,
  layout: TableLayout,
  maxChars: number,
): readonly string[] | null {
  if (header === undefined || header === null || !rows.every(row => row !== null)) return null
  const alignments = (letters?.split('') ?? header.map(() => '-')) as Alignment[]
  if (alignments.length !== header.length) return null
  const { widths } = layout
  if (typeof widths !== 'string' && widths.length !== header.length) return null
  const lines = layOut({ header, alignments, rows }, layout, maxChars)
  if (lines === null) throw decodedTooLong(maxChars)
  return lines
}

/**
 * A row of CSV whose cells are texts and nothing else; quotes if a cell needs them, as in RFC 4180.
 */
function writeTextRow(cells: readonly string[]): string {
  return cells.map(writeCell).join(',')
}

/** A comma or quote anywhere; backticks in front could look like the end of a fence. */
const NEEDS_QUOTES = /[",]|^```/

function writeCell(cell: string): string {
  return NEEDS_QUOTES.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

/** The cells of such a row, or `null` if quotes do not match. An empty line is one empty cell. */
function readTextRow(line: string): readonly string[] | null {
  const cells: string[] = []
  for (let at = 0; at <= line.length; at++) {
    if (line[at] !== '"') {
      let end = line.indexOf(',', at)
      if (end === -1) end = line.length
      cells.push(line.slice(at, end))
      at = end
      continue
    }
    const end = closingQuote(line, at + 1)
    if (end === -1 || (end + 1 < line.length && line[end + 1] !== ',')) return null
    cells.push(line.slice(at + 1, end).replaceAll('""', '"'))
    at = end + 1
  }
  return cells
}

/** The offset of the first quote from `start` on that is not doubled, or -1. */
function closingQuote(line: string, start: number): number {
  let at = line.indexOf('"', start)
  while (at !== -1 && line[at + 1] === '"') at = line.indexOf('"', at + 2)
  return at
}
