import { ASTERISK, COLON, EQUALS, LINE_FEED, QUOTE, SPACE } from '../../../json/char-codes.ts'
import type { Value } from '../../../json/value.ts'
import { patternOf } from './plan-columns.ts'
import { bracketSurcharge, type Pricer } from './pricer.ts'
import { bareValue, endsOf, PREFIX_ENDS, type Reader, separatedEnds } from './reader.ts'
import { NOT_IN_LIST_AFFIX, notInCell, PATTERN_MARK, type Separator } from './syntax.ts'
import type { Piece } from './trace.ts'
import { afterSign } from './write-inline.ts'
import { writeAffix, writeScalar, writeText } from './write-text.ts'

/** With fewer strings the number in front takes more than the commas. */
const FEWEST_WORDS = 4
/** The part of the strings that may have spaces, and so be in quotes, between spaces. */
const MOST_QUOTED = 0.25

const SUFFIX_ENDS = endsOf(COLON)

/**
 * The text after a key whose value is a list of strings: `[4 ]: ann bo cy di`. What all of them
 * begin or end with may be stated once: `[4 ]=src/*.ts: a b c d`. Returns `null` for another value,
 * or if that saves nothing.
 */
export function wordsPiece(value: readonly Value[], pricer: Pricer): Piece | null {
  if (value.length < FEWEST_WORDS || !value.every(word => typeof word === 'string')) return null
  const pattern = patternOf('', value, pricer)
  const { prefix, suffix } = pattern?.kind === 'pattern' ? pattern : { prefix: '', suffix: '' }
  const hasPattern = prefix !== '' || suffix !== ''
  const words = hasPattern
    ? value.map(word => word.slice(prefix.length, word.length - suffix.length))
    : value
  const separator = separatorOf(words)
  if (separator === ',' && !hasPattern) return null
  const not = notInCell(separator)
  const mark = separator === ',' ? '' : separator
  let text = `[${words.length}${mark}]`
  if (hasPattern) text += `=${affix(prefix, 0)}${PATTERN_MARK}${affix(suffix, 1)}`
  text += ':'
  for (const [i, word] of words.entries()) {
    const written = hasPattern ? writeText(word, not) : writeScalar(word, not)
    if (i === 0) text += afterSign(word, written)
    else text += separator + (separator === ',' ? afterSign(word, written) : written)
  }
  const tokens = pricer.tokens(text)
  return { text, tokens, surcharge: bracketSurcharge(text, tokens, pricer.style) }
}

function separatorOf(words: readonly string[]): Separator {
  let spaced = 0
  for (const word of words) if (word.includes(' ')) spaced++
  return spaced > words.length * MOST_QUOTED ? ',' : ' '
}

function affix(text: string, outer: number): string {
  return writeAffix(text, NOT_IN_LIST_AFFIX, outer)
}

/** Whether strings follow the closing bracket before `at` on the same line. */
export function isWords(text: string, at: number): boolean {
  const c = text.charCodeAt(at)
  if (c === EQUALS) return true
  return c === COLON && at + 1 < text.length && text.charCodeAt(at + 1) !== LINE_FEED
}

/**
 * The strings whose head was read up to its closing bracket, which is at the place. Moves to the
 * line's end.
 * @param separator the code unit between two of them
 */
export function readWords(reader: Reader, count: number, separator: number): readonly Value[] {
  let prefix = ''
  let suffix = ''
  const hasPattern = reader.next !== COLON
  if (hasPattern) {
    reader.at++
    prefix = reader.next === QUOTE ? reader.quoted() : reader.bare(PREFIX_ENDS)
    reader.expect(ASTERISK, 'a pattern')
    suffix = reader.next === QUOTE ? reader.quoted() : reader.bare(SUFFIX_ENDS)
  }
  reader.expect(COLON, 'a colon')
  reader.skip(SPACE)
  const ends = separatedEnds(separator)
  const words: Value[] = []
  for (let i = 0; i < count; i++) {
    if (i > 0) {
      reader.expect(separator, 'another string of the list')
      if (separator !== SPACE) reader.skip(SPACE)
    }
    const isQuoted = reader.next === QUOTE
    const text = isQuoted ? reader.quoted() : reader.bare(ends)
    if (text === '' && !isQuoted) throw reader.error('a string expected')
    const word = isQuoted || hasPattern ? text : bareValue(text)
    words.push(hasPattern ? prefix + String(word) + suffix : word)
  }
  return words
}
