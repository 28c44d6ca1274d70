import type { TokenCounter } from '../../tokens/counter.ts'
import { decodedTooLong } from '../not-decodable.ts'
import { type ColumnLayout, longestOf, placeColumns, writeAligned } from './column-layout.ts'
import { type AlignedLines, longestCells } from './find-columns.ts'

/** Between the cells of a row. */
export type Separator = ' ' | '|' | ','

/** The line above a table: how many rows follow its header, and their separator. */
export const OPENER = /^\[(\d{1,9})([ |,])\]:$/
/** A cell without text, if the separator is a space. */
const EMPTY = '""'
/** A cell of the header without a name. */
const UNNAMED = '*'
const SHARED = '='
/** Begins a row that is a line as it is. */
const UNCHANGED = '|'

/** What the cells of a column share; `null` for a constant's suffix. */
interface Column {
  readonly name: string
  readonly prefix: string
  readonly suffix: string | null
}

/** Share of the lines that a table must have as rows. */
const MIN_KEPT = 0.6

/** The lines of a table with its opener, or `null` if the separator is in too many cells. */
export function writeColumnTable(
  lines: readonly string[],
  { rows }: AlignedLines,
  separator: Separator,
  counter: TokenCounter,
): readonly string[] | null {
  const names = nameRow(rows)
  const body = rows.slice(names === null ? 0 : 1)
  const aligned = body.filter(row => row !== null)
  const first = aligned[0]
  if (aligned.length < 2 || first === undefined) return null
  const columns = first.map((_, at): Column => {
    const cells = aligned.map(row => row[at]!)
    return { name: names?.[at] ?? '', ...sharedOf(cells, separator, counter) }
  })
  const header = writeHeader(columns, names !== null, separator)
  if (header === null) return null
  const out = [`[${body.length}${separator}]:`, header]
  const kept: (readonly string[])[] = names === null ? [] : [names]
  for (const [at, row] of body.entries()) {
    const line = row === null ? null : writeRow(row, columns, separator)
    if (row !== null && line !== null) kept.push(row)
    out.push(line ?? UNCHANGED + lines[at + lines.length - body.length]!)
  }
  if (kept.length < lines.length * MIN_KEPT) return null
  // The widths that a reader finds out must be those of the layout.
  const longest = longestOf(kept, columns.length)
  const all = longestCells(rows, columns.length)
  return longest.every((width, at) => width === all[at]) ? out : null
}

/** The first row, if it names the columns: words above columns of other characters. */
function nameRow(rows: readonly (readonly string[] | null)[]): readonly string[] | null {
  const [names, ...body] = rows
  if (names === undefined || names === null) return null
  if (names.some(name => /[=*"]/.test(name))) return null
  if (names.every(name => !/^[\p{Ll}\d]/u.test(name))) return names
  const aligned = body.filter(row => row !== null)
  const isName = (name: string, at: number) => {
    const first = aligned[0]?.[at] ?? ''
    if (name === '' || first === '' || /^\d/.test(name)) return false
    return (
      aligned.every(row => /\d/.test(row[at]!)) === !/\d/.test(name) ||
      (name !== first && aligned.every(row => row[at] === first))
    )
  }
  return names.some(isName) ? names : null
}

/** Fewest characters of what all cells of a column begin or end with. */
const MIN_SHARED_CHARS = 2
/** Rows by which the saving of a pattern is measured. */
const SAMPLE = 24

function sharedOf(
  cells: readonly string[],
  separator: Separator,
  counter: TokenCounter,
): { prefix: string; suffix: string | null } {
  const none = { prefix: '', suffix: '' }
  const first = cells[0]!
  let start = first.length
  let end = first.length
  for (const cell of cells) {
    let same = 0
    while (same < start && cell.charCodeAt(same) === first.charCodeAt(same)) same++
    start = same
    same = 0
    const most = Math.min(end, cell.length)
    while (same < most && cell.at(-1 - same) === first.at(-1 - same)) same++
    end = same
  }
  const isOdd = (text: string) => text.includes('*') || text.includes(separator) || text === EMPTY
  if (start === first.length && cells.every(cell => cell.length === start)) {
    return isOdd(first) ? none : { prefix: first, suffix: null }
  }
  const shortest = cells
    .slice(0, SAMPLE)
    .reduce((least, cell) => Math.min(least, cell.length), first.length)
  const least = cells.reduce((min, cell) => Math.min(min, cell.length), shortest)
  const prefix = cutAfter(first.slice(0, Math.min(start, least)))
  const suffix = cutBefore(first.slice(first.length - Math.min(end, least - prefix.length)))
  if (prefix + suffix === '' || isOdd(prefix + suffix)) return none
  const sample = cells.slice(0, SAMPLE)
  const costOf = (texts: readonly string[]) =>
    counter.count(texts.map(each => separator + each).join(''))
  const rests = sample.map(cell => cell.slice(prefix.length, cell.length - suffix.length))
  return costOf(rests) < costOf(sample) ? { prefix, suffix } : none
}

/** The text up to its last separator, so that no word or number is divided. */
function cutAfter(text: string): string {
  const cut = /^[\s\S]*[^\p{L}\p{N}]/u.exec(text)?.[0] ?? ''
  return cut.length < MIN_SHARED_CHARS || !cut.isWellFormed() ? '' : cut
}

function cutBefore(text: string): string {
  const at = text.search(/[^\p{L}\p{N}]/u)
  const cut = at === -1 ? '' : text.slice(at)
  return cut.length < MIN_SHARED_CHARS || !cut.isWellFormed() ? '' : cut
}

function writeHeader(
  columns: readonly Column[],
  isNamed: boolean,
  separator: Separator,
): string | null {
  const cells = columns.map(({ name, prefix, suffix }) => {
    if (name.includes(separator)) return null
    const shared = suffix === null ? prefix : `${prefix}*${suffix}`
    const isPlain = shared === UNNAMED
    if (!isNamed) return isPlain ? UNNAMED : SHARED + shared
    const shown = name === '' ? EMPTY : name
    return isPlain ? shown : shown + SHARED + shared
  })
  return cells.includes(null) ? null : cells.join(separator)
}

function writeRow(
  row: readonly string[],
  columns: readonly Column[],
  separator: Separator,
): string | null {
  const cells: string[] = []
  let last = -1
  for (let at = 0; at < columns.length; at++) {
    const { prefix, suffix } = columns[at]!
    if (suffix === null) continue
    const cell = row[at]!.slice(prefix.length, row[at]!.length - suffix.length)
    last = at
    if (cell === EMPTY) return null
    cells.push(cell === '' && separator === ' ' ? EMPTY : cell)
  }
  const isLast = last === columns.length - 1
  const inner = isLast ? cells.slice(0, -1) : cells
  if (inner.some(cell => cell.includes(separator))) return null
  while (cells.length > 1 && (cells.at(-1) === '' || cells.at(-1) === EMPTY)) cells.pop()
  const line = cells.join(separator)
  return line.startsWith(UNCHANGED) ? null : line
}

/**
 * The lines that a table represents, or `null` if its header and rows do not fit its layout.
 * @throws AppError `payload_too_large` if they have more than `maxChars`
 */
export function readColumnTable(
  header: string,
  lines: readonly string[],
  separator: Separator,
  layout: ColumnLayout,
  maxChars: number,
): readonly string[] | null {
  const columns = readHeader(header, separator)
  if (columns === null || columns.list.length !== layout.columns.length) return null
  const rows: (readonly string[] | null)[] = columns.isNamed
    ? [columns.list.map(({ name }) => name)]
    : []
  for (const line of lines) {
    const row = line.startsWith(UNCHANGED) ? null : readRow(line, columns.list, separator)
    if (row === undefined) return null
    rows.push(row)
  }
  const aligned = rows.filter(row => row !== null)
  const places = placeColumns(layout, longestOf(aligned, columns.list.length))
  let room = maxChars
  return rows.map((row, at) => {
    const text =
      row === null
        ? lines[at - (rows.length - lines.length)]!.slice(UNCHANGED.length)
        : writeAligned(row, places, layout.padded, room)
    if (text === null || text.length > room) throw decodedTooLong(maxChars)
    room -= text.length
    return text
  })
}

function readHeader(
  header: string,
  separator: Separator,
): { list: readonly Column[]; isNamed: boolean } | null {
  const cells = header.split(separator)
  const isNamed = !cells.every(cell => cell === UNNAMED || cell.startsWith(SHARED))
  const list: Column[] = []
  for (const cell of cells) {
    const at = cell.indexOf(SHARED)
    const name = at === -1 ? cell : cell.slice(0, at)
    const shared = at === -1 ? UNNAMED : cell.slice(at + 1)
    const star = shared.indexOf('*')
    list.push({
      name: isNamed && name !== EMPTY ? name : '',
      prefix: star === -1 ? shared : shared.slice(0, star),
      suffix: star === -1 ? null : shared.slice(star + 1),
    })
  }
  return { list, isNamed }
}

/** The cells of a row; `undefined` if it has more than there are columns. */
function readRow(
  line: string,
  columns: readonly Column[],
  separator: Separator,
): readonly string[] | undefined {
  const last = columns.length - 1
  // Only the row of a table whose columns are all constant has no cell.
  let at = columns.every(({ suffix }) => suffix === null) ? 1 : 0
  const row = columns.map(({ prefix, suffix }, column) => {
    if (suffix === null) return prefix
    const next = column === last ? -1 : line.indexOf(separator, at)
    const end = next === -1 ? line.length : next
    const cell = line.slice(at, end)
    at = end + 1
    return prefix + (cell === EMPTY ? '' : cell) + suffix
  })
  return at > line.length ? row : undefined
}
