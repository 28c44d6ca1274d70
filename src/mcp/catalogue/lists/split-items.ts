import { checkedJson } from '../../../core/json/bytes/checked-json.ts'
import type { JsonBytes } from '../../../core/json/bytes/json-node.ts'
import { byteAt, passOverString, skipSpace } from '../../../core/json/bytes/json-tokens.ts'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../../../core/json/char-codes.ts'
import { Parts } from './in-parts.ts'

/**
 * The items of an array, which must be JSON. A large array is gone through in parts.
 * @param most how many there may be
 * @returns `null` if there are more, or if it is no array
 */
export async function splitItems(array: JsonBytes, most: number): Promise<JsonBytes[] | null> {
  if (array[0] !== OPEN_BRACKET) return null
  const items: JsonBytes[] = []
  const parts = new Parts()
  let at = skipSpace(array, 1)
  while (at < array.length - 1) {
    if (items.length === most) return null
    const end = endOfItem(array, at)
    items.push(array.subarray(at, end))
    if (parts.isDue(end - at)) await parts.pause()
    // After the comma, or the bracket.
    at = skipSpace(array, skipSpace(array, end) + 1)
  }
  return items
}

/** The offset after the value at `start`. */
function endOfItem(array: JsonBytes, start: number): number {
  const known = checkedJson(array)?.ends.get(array.byteOffset + start)
  if (known !== undefined) return known - array.byteOffset
  let depth = 0
  let at = start
  for (;;) {
    const c = byteAt(array, at)
    if (c === QUOTE) at = passOverString(array, at)
    else if (c === OPEN_BRACE || c === OPEN_BRACKET) {
      depth++
      at++
    } else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) {
      depth--
      at++
    } else at = endOfPlain(array, at + 1)
    if (depth === 0) return at
  }
}

/** The offset after what has no structure: numbers, words, commas, colons and white space. */
function endOfPlain(array: JsonBytes, start: number): number {
  let at = start
  while (at < array.length && !STRUCTURE.has(array[at]!)) at++
  return at
}

const STRUCTURE: ReadonlySet<number> = new Set([
  QUOTE,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  CLOSE_BRACE,
  CLOSE_BRACKET,
])
