import { middleOf } from '../../../tokens/safe-boundary.ts'
import { escapeText } from '../../bare-text.ts'
import { BACKSLASH_BIT, LINE_FEED_BIT, QUOTE_BIT, TAB_BIT, UNSAFE_BIT } from '../../text-content.ts'
import type { Pricer } from './pricer.ts'
import { NOT_INLINE } from './syntax.ts'
import { factsOf, NEVER_BARE_BIT, type Scalar, writeScalar } from './write-text.ts'

/**
 * A scalar as it is counted. Long strings lack their middle (`middleOf`), which has the same tokens
 * in every way to write them. It is counted once and added to the price of each way.
 */
export interface ScalarText {
  /** Bits of `factsOf`; `NO_STRING` of any other scalar. */
  readonly bits: number
  readonly bare: string
  readonly quoted: string
  /** Tokens of the middle that both lack. */
  readonly middle: number
}

/** A bit that no string has. */
export const NO_STRING = 1 << 21

const CHANGED_BY_QUOTES = QUOTE_BIT | BACKSLASH_BIT | TAB_BIT
const NEVER_BARE = LINE_FEED_BIT | UNSAFE_BIT

/** The texts of a scalar. */
export function scalarText(value: Scalar, pricer: Pricer): ScalarText {
  if (typeof value !== 'string') {
    const literal = writeScalar(value, 0)
    return { bits: NO_STRING, bare: literal, quoted: literal, middle: 0 }
  }
  const bits = factsOf(value)
  if ((bits & NEVER_BARE) !== 0) {
    const { text, middle } = shorten(escapeText(value), pricer)
    return { bits, bare: text, quoted: text, middle }
  }
  if ((bits & CHANGED_BY_QUOTES) !== 0) {
    return { bits, bare: value, quoted: escapeText(value), middle: 0 }
  }
  const { text, middle } = shorten(value, pricer)
  return { bits, bare: text, quoted: `"${text}"`, middle }
}

/** A shorter middle is counted about as fast as it is cut out. */
const SHORTEST_MIDDLE = 16

/** A text without its middle, and the tokens of that. */
export function shorten(
  text: string,
  { additive, tokens }: Pricer,
): { readonly text: string; readonly middle: number } {
  const middle = additive && text.length > SHORTEST_MIDDLE ? middleOf(text, SHORTEST_MIDDLE) : null
  if (middle === null) return { text, middle: 0 }
  const { start, end } = middle
  return { text: text.slice(0, start) + text.slice(end), middle: tokens(text.slice(start, end)) }
}

/** A text, and how it is counted: without its middle, which has so many tokens. */
export interface CountedText {
  readonly text: string
  readonly counted: string
  readonly middle: number
}

/** The scalar at a place that does not allow these bits in bare strings. */
export function writtenText(value: Scalar, scalar: ScalarText, not: number): CountedText {
  const { bare, quoted, middle } = scalar
  const counted = isBare(scalar, not) ? bare : quoted
  // Only a text with a middle is counted otherwise than it is written.
  if (middle === 0) return { text: counted, counted, middle }
  const whole = value as string
  return { text: counted === bare && bare !== quoted ? whole : escapeText(whole), counted, middle }
}

/** The scalar as JSON. */
export function quotedText(value: Scalar, { quoted, middle }: ScalarText): string {
  return middle === 0 ? quoted : escapeText(value as string)
}

/** As it is counted in brackets. */
export function inBrackets(scalar: ScalarText): string {
  return isBare(scalar, NOT_INLINE) ? scalar.bare : scalar.quoted
}

function isBare({ bits }: ScalarText, not: number): boolean {
  return (bits & (not | NEVER_BARE_BIT)) === 0
}
