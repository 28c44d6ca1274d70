import {
  ASTERISK,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  EQUALS,
  LINE_FEED,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
} from '../../../json/char-codes.ts'
import type { Column } from './column.ts'
import { readInline } from './read-inline.ts'
import { bareValue, type Reader } from './reader.ts'

/**
 * The columns at the place, up to a line end or closing bracket.
 * @param separator the code unit between two of them
 * @param depth containers around a member of a row
 */
export function readHeader(reader: Reader, separator: number, depth: number): readonly Column[] {
  const columns: Column[] = []
  const names = new Set<string>()
  do {
    if (columns.length > 0 && separator !== SPACE) reader.skip(SPACE)
    const start = reader.at
    const column = readColumn(reader, separator, depth)
    if (names.has(column.name)) throw reader.error('a new column name expected', start)
    names.add(column.name)
    columns.push(column)
  } while (reader.skip(separator))
  return columns
}

/** One column at the place, up to a separator, a line end or a closing bracket. */
export function readColumn(reader: Reader, separator: number, depth: number): Column {
  const name = readName(reader, separator)
  switch (reader.next) {
    case EQUALS:
      reader.at++
      return readFixed(reader, name, separator, depth)
    case OPEN_BRACE: {
      reader.checkDepth(depth)
      reader.at++
      const columns = readHeader(reader, separator, depth + 1)
      reader.expect(CLOSE_BRACE, 'a closing brace')
      return { kind: 'group', name, columns }
    }
    case OPEN_BRACKET: {
      reader.checkDepth(depth + 1)
      reader.at++
      const columns = readHeader(reader, COMMA, depth + 2)
      reader.expect(CLOSE_BRACKET, 'a closing bracket')
      return { kind: 'rows', name, columns }
    }
    default:
      return { kind: 'cell', name }
  }
}

function readName(reader: Reader, separator: number): string {
  if (reader.next === QUOTE) return reader.quoted()
  const name = reader.bare(
    c => c === separator || c === EQUALS || c === OPEN_BRACE || c === OPEN_BRACKET || isClosing(c),
  )
  if (name === '') throw reader.error('a column name expected')
  return name
}

/** A constant, or a pattern if the mark follows a text or is alone. */
function readFixed(reader: Reader, name: string, separator: number, depth: number): Column {
  const c = reader.next
  if (c === OPEN_BRACE || c === OPEN_BRACKET) {
    return { kind: 'constant', name, value: readInline(reader, depth) }
  }
  const ends = (end: number): boolean =>
    end === separator || end === ASTERISK || end === QUOTE || isClosing(end)
  const quoted = c === QUOTE
  const text = quoted ? reader.quoted() : reader.bare(ends)
  if (!reader.skip(ASTERISK)) {
    if (text === '' && !quoted) throw reader.error('a value expected')
    return { kind: 'constant', name, value: quoted ? text : bareValue(text) }
  }
  const suffix = reader.next === QUOTE ? reader.quoted() : reader.bare(ends)
  return { kind: 'pattern', name, prefix: text, suffix }
}

function isClosing(c: number): boolean {
  return c === CLOSE_BRACE || c === CLOSE_BRACKET || c === LINE_FEED
}
