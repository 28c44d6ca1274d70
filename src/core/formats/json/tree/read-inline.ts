import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
} from '../../../json/char-codes.ts'
import { ObjectValue, type Value } from '../../../json/value.ts'
import { bareValue, endsOf, type Reader } from './reader.ts'

const INLINE_ENDS = endsOf(COMMA, CLOSE_BRACKET, CLOSE_BRACE)
const KEY_ENDS = endsOf(COLON, COMMA, CLOSE_BRACKET, CLOSE_BRACE)

/**
 * The value in brackets at the place: JSON, or as `writeInline` writes it.
 * @param depth containers around it
 */
export function readInline(reader: Reader, depth: number): Value {
  const c = reader.next
  if (c === OPEN_BRACKET) return readArray(reader, depth)
  if (c === OPEN_BRACE) return readObject(reader, depth)
  if (c === QUOTE) return reader.quoted()
  const shaped = reader.readShaped?.(depth)
  if (shaped !== undefined) return shaped
  const bare = reader.bare(INLINE_ENDS)
  if (bare === '') throw reader.error('a value expected')
  return bareValue(bare)
}

function readArray(reader: Reader, depth: number): Value {
  reader.checkDepth(depth)
  reader.at++
  const items: Value[] = []
  if (reader.skip(CLOSE_BRACKET)) return items
  for (;;) {
    items.push(readInline(reader, depth + 1))
    if (reader.skip(CLOSE_BRACKET)) return items
    reader.expect(COMMA, 'a comma or a closing bracket')
    reader.skip(SPACE)
  }
}

function readObject(reader: Reader, depth: number): Value {
  reader.checkDepth(depth)
  reader.at++
  const keys: string[] = []
  const values: Value[] = []
  if (reader.skip(CLOSE_BRACE)) return new ObjectValue(keys, values)
  for (;;) {
    const quoted = reader.next === QUOTE
    const key = quoted ? reader.quoted() : reader.bare(KEY_ENDS)
    if (key === '' && !quoted) throw reader.error('a key expected')
    reader.expect(COLON, 'a colon')
    reader.skip(SPACE)
    keys.push(key)
    values.push(readInline(reader, depth + 1))
    if (reader.skip(CLOSE_BRACE)) return new ObjectValue(keys, values)
    reader.expect(COMMA, 'a comma or a closing brace')
    reader.skip(SPACE)
  }
}
