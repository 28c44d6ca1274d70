import { typedText } from '../base/typed-text.ts'
import { DIGIT_0, DIGIT_9, DOT, LOWER_E, MINUS, PLUS } from './char-codes.ts'
import { NumberLiteral } from './value.ts'

/**
 * Every integer of this many digits is a double, and so is its quotient by a power of ten, rounded
 * once.
 */
const EXACT_DIGITS = 15

/** Below this `String(number)` changes to the exponent form. */
const SMALLEST_PLAIN_FRACTION = 1e-6

/** `POWERS_OF_TEN[k]` is 10^k, exact as a double. */
const POWERS_OF_TEN: readonly number[] = Array.from({ length: EXACT_DIGITS + 1 }, (_, k) => 10 ** k)

/** What Python's `json` writes for numbers that JSON does not have. */
const NON_FINITE = ['NaN', 'Infinity', '-Infinity'].map(text => new NumberLiteral(text))

/** The number at `start` that is not finite, as Python writes it; `undefined` if there is none. */
export function nonFiniteAt(text: string, start: number): NumberLiteral | undefined {
  return NON_FINITE.find(number => text.startsWith(number.text, start))
}

/**
 * Reads `string[start, end)` as one JSON number (RFC 8259, section 6), keeping its spelling: a
 * plain `number` if `String(number)` is that spelling, otherwise a `NumberLiteral`. `undefined` if
 * the range is no JSON number. Linear in the range.
 */
export function parseNumber(
  string: string,
  start: number,
  end: number,
): number | NumberLiteral | undefined {
  const text = typedText(string)
  const negative = text.charCodeAt(start) === MINUS
  const first = negative ? start + 1 : start
  let digits = 0
  let at = first
  for (; at < end; at++) {
    const c = text.charCodeAt(at)
    if (c < DIGIT_0 || c > DIGIT_9) break
    digits = digits * 10 + (c - DIGIT_0)
  }
  const integerDigits = at - first
  if (integerDigits === 0) return undefined
  if (integerDigits > 1 && text.charCodeAt(first) === DIGIT_0) return undefined
  if (at === end) {
    if (integerDigits > EXACT_DIGITS || (negative && digits === 0))
      return bySpelling(text, start, end)
    return negative ? -digits : digits
  }
  if (text.charCodeAt(at) === DOT) {
    const fraction = at + 1
    for (at = fraction; at < end; at++) {
      const c = text.charCodeAt(at)
      if (c < DIGIT_0 || c > DIGIT_9) break
      digits = digits * 10 + (c - DIGIT_0)
    }
    const fractionDigits = at - fraction
    if (fractionDigits === 0) return undefined
    if (at === end) {
      if (integerDigits + fractionDigits > EXACT_DIGITS || digits % 10 === 0) {
        return bySpelling(text, start, end)
      }
      const number = digits / POWERS_OF_TEN[fractionDigits]!
      if (number < SMALLEST_PLAIN_FRACTION) return bySpelling(text, start, end)
      return negative ? -number : number
    }
  }
  return isExponent(text, at, end) ? bySpelling(text, start, end) : undefined
}

function isExponent(text: string, start: number, end: number): boolean {
  // Setting bit 0x20 turns `E` into `e`; no other character of a number becomes `e` by it.
  if ((text.charCodeAt(start) | 0x20) !== LOWER_E) return false
  const sign = text.charCodeAt(start + 1)
  const first = sign === PLUS || sign === MINUS ? start + 2 : start + 1
  for (let at = first; at < end; at++) {
    const c = text.charCodeAt(at)
    if (c < DIGIT_0 || c > DIGIT_9) return false
  }
  return first < end
}

function bySpelling(text: string, start: number, end: number): number | NumberLiteral {
  const spelling = text.slice(start, end)
  const number = Number(spelling)
  return String(number) === spelling ? number : new NumberLiteral(spelling)
}
