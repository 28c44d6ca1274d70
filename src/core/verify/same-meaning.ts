import type { DecodeAnswer } from '../contract/encode.ts'
import { parseJson } from '../json/parse-json.ts'
import { equalValues, type Value } from '../json/value.ts'

/** Deep enough for every content that a service parses: its limit is at most this. */
const MAX_DEPTH = 1_000

/** The value of a JSON text; `undefined` for other text. */
export function jsonValue(text: string): Value | undefined {
  const parsed = parseJson(text, { maxDepth: MAX_DEPTH })
  return parsed.ok ? parsed.value : undefined
}

/**
 * Whether a decoded text is the original: the same value if it is JSON, else the same characters.
 */
export function sameMeaning(original: string, { content, media_type }: DecodeAnswer): boolean {
  if (media_type === 'text/plain' || content === original) return content === original
  const before = jsonValue(original)
  const after = jsonValue(content)
  return before !== undefined && after !== undefined && equalValues(before, after)
}
