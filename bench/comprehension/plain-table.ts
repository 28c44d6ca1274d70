import type { Json } from './data-sets.ts'
import { type Place, quoted, readValue, scalar, skip, until } from './plain-inline.ts'

/** A column of a header: `name`, `name=constant`, `name=before*after`, `name{…}`, `name[…]`. */
export interface PlainColumn {
  readonly name: string
  /** What stands before it in the header: a space, or a comma and perhaps a space. */
  gap?: string
  readonly constant?: Json
  readonly pattern?: readonly [string, string]
  readonly group?: readonly PlainColumn[]
  readonly rows?: readonly PlainColumn[]
}

/** The columns of a header line. */
export function readColumns(line: string, separator: string): PlainColumn[] {
  return columnsAt({ text: line, at: 0 }, separator)
}

function columnsAt(place: Place, separator: string): PlainColumn[] {
  const columns: PlainColumn[] = []
  for (let gap: string | null = separator; gap !== null; gap = gapAt(place, separator)) {
    const column = columnAt(place, separator)
    if (columns.length > 0) firstOf(column).gap = gap
    columns.push(column)
  }
  return columns
}

/** Between spaces, a comma may follow a column of phrases, here and in the rows. */
function gapAt(place: Place, separator: string): string | null {
  if (separator !== ' ') return skip(place, separator) ? separator : null
  const [gap = ''] = /^(?: |, ?)/.exec(place.text.slice(place.at)) ?? []
  place.at += gap.length
  return gap === '' ? null : gap
}

/** A column's gap is that of its first cell. */
function firstOf(column: PlainColumn): PlainColumn {
  const [first] = column.group ?? []
  return first === undefined ? column : firstOf(first)
}

/** The columns that are cells. */
function cellsOf(columns: readonly PlainColumn[]): readonly PlainColumn[] {
  return columns.flatMap(column => {
    if ('constant' in column) return []
    return column.group === undefined ? [column] : cellsOf(column.group)
  })
}

function columnAt(place: Place, separator: string): PlainColumn {
  const ends = `${separator === ' ' ? ' ,' : separator}={[]}`
  const name = place.text[place.at] === '"' ? quoted(place) : until(place, ends)
  if (skip(place, '{')) {
    const group = columnsAt(place, separator)
    place.at++
    return { name, group }
  }
  if (skip(place, '[')) {
    const rows = columnsAt(place, ',')
    place.at++
    return { name, rows }
  }
  return skip(place, '=') ? fixed(place, name, separator) : { name }
}

function fixed(place: Place, name: string, separator: string): PlainColumn {
  if (/[[{]/.test(place.text[place.at] ?? '')) return { name, constant: readValue(place) }
  const inQuotes = place.text[place.at] === '"'
  const ends = `${separator === ' ' ? ' ,' : separator}*"]}`
  const text = inQuotes ? quoted(place) : until(place, ends)
  if (place.text[place.at] !== '*') return { name, constant: inQuotes ? text : scalar(text) }
  place.at++
  return {
    name,
    pattern: [text, place.text[place.at] === '"' ? quoted(place) : until(place, ends)],
  }
}

/** The object of a row. */
export function readRow(
  row: Place,
  columns: readonly PlainColumn[],
  separator: string,
  absent: string,
): Json {
  return new Cells(row, separator, '', cellsOf(columns), absent).row(columns)
}

/** The object whose cells are in parentheses, the first of which is at the place. */
export function readShaped(place: Place, columns: readonly PlainColumn[]): Json {
  place.at++
  const object = new Cells(place, ',', ')').row(columns)
  place.at++
  return object
}

/** The key of a row, and the object of its other cells. */
export function readKeyedRow(
  row: Place,
  columns: readonly PlainColumn[],
  separator: string,
  absent: string,
): [string, Json] {
  const [keys, ...members] = columns
  const cells = new Cells(row, separator, '', cellsOf(members), absent)
  return [cells.key(keys?.pattern), cells.row(members)]
}

/** The cells of a row, one after the other. */
class Cells {
  readonly #place: Place
  readonly #separator: string
  /** What ends a row in a cell; nothing if the row is a line. */
  readonly #rowEnds: string
  /** The cells of a line, if spaces separate them: each may have another gap. */
  readonly #line: readonly PlainColumn[]
  #first = true
  #over = false

  /** What an empty cell may contain. */
  readonly #absent: string

  constructor(
    place: Place,
    separator: string,
    rowEnds: string,
    line: readonly PlainColumn[] = [],
    absent = '',
  ) {
    this.#absent = absent
    this.#line = separator === ' ' ? line : []
    this.#place = place
    this.#separator = separator
    this.#rowEnds = rowEnds
  }

  /** The object of a row, or of rows in a cell: one that has no cell has the constants. */
  row(columns: readonly PlainColumn[]): Json {
    return Object.fromEntries(this.#shown(columns).members) as Json
  }

  /**
   * `undefined` if all its cells are empty, `null` if the first says so and the others are
   * empty.
   */
  #group(columns: readonly PlainColumn[]): Json | undefined {
    const { members, cells } = this.#shown(columns)
    if (cells.length === 0) return undefined
    const [first] = columns.filter(column => column.constant === undefined)
    const [only] = cells
    const isNull = cells.length === 1 && only?.[0] === first?.name && only?.[1] === null
    return isNull ? null : (Object.fromEntries(members) as Json)
  }

  #shown(columns: readonly PlainColumn[]): Record<'members' | 'cells', [string, Json][]> {
    const members: [string, Json][] = []
    const cells: [string, Json][] = []
    for (const column of columns) {
      const value = this.#column(column)
      if (value === undefined) continue
      members.push([column.name, value])
      if (column.constant === undefined) cells.push([column.name, value])
    }
    return { members, cells }
  }

  /** The first cell, which is never read as anything but a string. */
  key(pattern: readonly [string, string] = ['', '']): string {
    const place = this.#place
    this.#first = false
    const text = place.text[place.at] === '"' ? quoted(place) : until(place, this.#separator)
    return pattern[0] + text + pattern[1]
  }

  #column(column: PlainColumn): Json | undefined {
    if ('constant' in column) return column.constant
    return column.group === undefined ? this.#cell(column) : this.#group(column.group)
  }

  /** Moves to the next cell; there is none if the row is over. */
  #next({ gap = ' ' }: PlainColumn): void {
    const place = this.#place
    if (this.#first || this.#over) return
    if (this.#line.length === 0) this.#over = !skip(place, this.#separator)
    else if (place.text.startsWith(gap, place.at)) place.at += gap.length
    else this.#over = true
  }

  /** The sign that ends a bare cell of a line; none ends the last one. */
  #endOf(column: PlainColumn): string {
    if (this.#line.length === 0) return this.#separator
    const next = this.#line[this.#line.indexOf(column) + 1]
    return next === undefined ? '' : (next.gap ?? ' ').charAt(0)
  }

  #cell(column: PlainColumn): Json | undefined {
    const { pattern, rows } = column
    const place = this.#place
    this.#next(column)
    this.#first = false
    const sign = place.text[place.at] ?? ''
    const end = this.#endOf(column)
    const isEmpty = sign === '' || sign === end || this.#rowEnds.includes(sign)
    if (this.#over || isEmpty) return undefined
    if (sign === '[' && rows !== undefined) return this.#rows(rows)
    if (pattern === undefined && '[{'.includes(sign)) return readValue(place)
    const shaped = pattern === undefined && sign !== '"' ? place.shaped?.(place) : undefined
    if (shaped !== undefined) return shaped
    const text = sign === '"' ? quoted(place) : until(place, end + this.#rowEnds)
    if (sign !== '"' && this.#absent !== '' && text === this.#absent) return undefined
    if (pattern !== undefined)
      return sign !== '"' && text === 'null' ? null : pattern[0] + text + pattern[1]
    return sign === '"' ? text : scalar(text)
  }

  #rows(columns: readonly PlainColumn[]): Json {
    const place = this.#place
    const rows: Json[] = []
    place.at++
    while (place.text[place.at] !== ']') {
      rows.push(new Cells(place, ',', ';]').row(columns))
      skip(place, ';')
    }
    place.at++
    return rows
  }
}
