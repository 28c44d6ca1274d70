import { escapeLookAlikes } from '../hints/escape.ts'
import { type JsonBytes, textOf } from '../json/bytes/json-node.ts'
import { endOfString } from '../json/bytes/json-tokens.ts'
import { literalOf, type Replacement } from '../json/bytes/splice.ts'
import { QUOTE } from '../json/char-codes.ts'

/**
 * Escapes what a reader could take for a hint of ours, in each string of a JSON text.
 * @param bytes of which `start` to `end` are one JSON text
 * @returns the strings that change, in their order
 */
export function escapedStrings(bytes: JsonBytes, start: number, end: number): Replacement[] {
  const found: Replacement[] = []
  let at = bytes.indexOf(QUOTE, start)
  while (at !== -1 && at < end) {
    const after = endOfString(bytes, at)
    if (after === -1) return []
    const text = textOf(bytes, { start: at, end: after }) as string
    const { content, count } = escapeLookAlikes(text)
    if (count > 0) found.push({ start: at, end: after, literal: literalOf(content) })
    at = bytes.indexOf(QUOTE, after)
  }
  return found
}
