import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../char-codes.ts'
import { type JsonBytes, type JsonNode, textOf } from './json-node.ts'
import { passOverString } from './json-tokens.ts'

/** A string literal of a body: bytes `[start, end)`, quotes included. */
export type StringLiteral = Pick<JsonNode, 'start' | 'end'>

/**
 * The strings in a value of a body that was read, at any depth and in their order, keys left out.
 * `null` if there are more than `most`, or if an object has a key twice: which of its values
 * another parser takes is not known.
 */
export function stringsWithin(
  body: JsonBytes,
  value: StringLiteral,
  most: number,
): StringLiteral[] | null {
  const found: StringLiteral[] = []
  /** The keys of the open objects so far; `null` for arrays. */
  const open: (Set<string> | null)[] = []
  let wantsKey = false
  for (let at = value.start; at < value.end; at++) {
    switch (body[at]) {
      case QUOTE: {
        const literal = { start: at, end: passOverString(body, at) }
        if (!wantsKey) found.push(literal)
        else if (!addKey(open.at(-1), textOf(body, literal))) return null
        if (found.length > most) return null
        at = literal.end - 1
        break
      }
      case OPEN_BRACE:
        open.push(new Set())
        wantsKey = true
        break
      case OPEN_BRACKET:
        open.push(null)
        wantsKey = false
        break
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        open.pop()
        wantsKey = false
        break
      case COMMA:
        wantsKey = open.at(-1) != null
        break
      case COLON:
        wantsKey = false
        break
    }
  }
  return found
}

/** Whether the object did not have the key yet. */
function addKey(keys: Set<string> | null | undefined, key: string | undefined): boolean {
  if (keys == null || key === undefined || keys.has(key)) return false
  keys.add(key)
  return true
}
