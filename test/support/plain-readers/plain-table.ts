import type { Json } from './json.ts'
import { move, mustGoOn, type Place, quoted, readValue, scalar, until } from './plain-inline.ts'

/** A column of a header: `name`, `name=constant`, `name=before*after`, `name{…}`, `name[…]`. */
export interface PlainColumn {
  readonly name: string
  readonly constant?: Json
  readonly pattern?: readonly [string, string]
  readonly group?: readonly PlainColumn[]
  readonly rows?: readonly PlainColumn[]
}

/** The columns of a header line. */
export function readColumns(line: string): PlainColumn[] {
  return columnsAt({ text: line, at: 0 })
}

function columnsAt(place: Place): PlainColumn[] {
  const columns: PlainColumn[] = []
  do columns.push(columnAt(place))
  while (move(place, ','))
  return columns
}

function columnAt(place: Place): PlainColumn {
  const name = place.text[place.at] === '"' ? quoted(place) : until(place, ',={[]}')
  if (move(place, '{')) {
    const group = columnsAt(place)
    place.at++
    return { name, group }
  }
  if (move(place, '[')) {
    const rows = columnsAt(place)
    place.at++
    return { name, rows }
  }
  return move(place, '=') ? fixed(place, name) : { name }
}

function fixed(place: Place, name: string): PlainColumn {
  if (/[[{]/.test(place.text[place.at] ?? '')) return { name, constant: readValue(place) }
  const inQuotes = place.text[place.at] === '"'
  const ends = ',*"]}'
  const text = inQuotes ? quoted(place) : until(place, ends)
  if (place.text[place.at] !== '*') return { name, constant: inQuotes ? text : scalar(text) }
  place.at++
  return {
    name,
    pattern: [text, place.text[place.at] === '"' ? quoted(place) : until(place, ends)],
  }
}

/** The object of a row. */
export function readRow(row: Place, columns: readonly PlainColumn[]): Json {
  return new Cells(row, '').row(columns)
}

/** The object whose cells are in parentheses, the first of which is at the place. */
export function readShaped(place: Place, columns: readonly PlainColumn[]): Json {
  place.at++
  const object = new Cells(place, ')').row(columns)
  place.at++
  return object
}

/** The key of a row, and the object of its other cells. */
export function readKeyedRow(row: Place, columns: readonly PlainColumn[]): [string, Json] {
  const [keys, ...members] = columns
  const cells = new Cells(row, '')
  return [cells.key(keys?.pattern), cells.row(members)]
}

/** The cells of a row, one after the other. */
class Cells {
  readonly #place: Place
  /** What ends a row in a cell; nothing if the row is a line. */
  readonly #rowEnds: string
  #first = true
  #over = false

  constructor(place: Place, rowEnds: string) {
    this.#place = place
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
    const text = place.text[place.at] === '"' ? quoted(place) : until(place, ',')
    return pattern[0] + text + pattern[1]
  }

  #column(column: PlainColumn): Json | undefined {
    if ('constant' in column) return column.constant
    return column.group === undefined ? this.#cell(column) : this.#group(column.group)
  }

  /** Moves to the next cell; there is none if the row is over. */
  #next(): void {
    if (!this.#first && !this.#over) this.#over = !move(this.#place, ',')
    this.#first = false
  }

  #cell(column: PlainColumn): Json | undefined {
    const { pattern, rows } = column
    const place = this.#place
    this.#next()
    const sign = place.text[place.at] ?? ''
    const isEmpty = sign === '' || sign === ',' || this.#rowEnds.includes(sign)
    if (this.#over || isEmpty) return undefined
    if (sign === '[' && rows !== undefined) return this.#rows(rows)
    if (pattern === undefined && '[{'.includes(sign)) return readValue(place)
    const shaped = pattern === undefined && sign !== '"' ? place.shaped?.(place) : undefined
    if (shaped !== undefined) return shaped
    const text = sign === '"' ? quoted(place) : until(place, `,${this.#rowEnds}`)
    if (text === '-' && sign !== '"') return undefined
    if (pattern !== undefined)
      return sign !== '"' && text === 'null' ? null : pattern[0] + text + pattern[1]
    return sign === '"' ? text : scalar(text)
  }

  #rows(columns: readonly PlainColumn[]): Json {
    const place = this.#place
    const rows: Json[] = []
    place.at++
    while (place.text[place.at] !== ']') {
      mustGoOn(place)
      rows.push(new Cells(place, ';]').row(columns))
      move(place, ';')
    }
    place.at++
    return rows
  }
}
