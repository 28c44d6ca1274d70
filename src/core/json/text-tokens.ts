import { BACKSLASH, QUOTE } from './char-codes.ts'
import { endsScalar } from './characters.ts'

/**
 * Tokens of a text that is known to be JSON, or may be treated as if it were: they are followed to
 * their end and not checked. `parseJson` checks; `bytes/json-tokens.ts` is the same for bytes.
 */

/** The offset after the string whose opening quote is at `start`; the length if it has no end. */
export function passOverString(text: string, start: number): number {
  const { length } = text
  for (let at = start + 1; at < length; at++) {
    const c = text.charCodeAt(at)
    if (c === QUOTE) return at + 1
    if (c === BACKSLASH) at++
  }
  return length
}

/** The offset after the number or word at `start`. */
export function passOverScalar(text: string, start: number): number {
  const { length } = text
  let at = start + 1
  while (at < length && !endsScalar(text.charCodeAt(at))) at++
  return at
}
