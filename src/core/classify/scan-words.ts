import {
  DIGIT,
  DOT,
  HEX_LETTER,
  IN_WORD,
  LETTER,
  SPACE,
  UNDERSCORE,
  wordKind,
} from '../json/char-codes.ts'

/** The findings of one pass over the words of a text. */
export interface WordFacts {
  /**
   * There is a word of hex digits, as long as a hash, with a digit and a letter: neither a number
   * nor a word.
   */
  readonly hash: boolean
  /** Words of letters only. */
  readonly words: number
  /**
   * Words of letters with a full stop, question or exclamation mark after them, and white space or
   * the end after that.
   */
  readonly sentences: number
  /** Letters and white space, in UTF-16 code units; the end counts as white space. */
  readonly letters: number
}

/** Abbreviated commit ids have 7 digits, SHA-256 has 64. */
const MIN_HASH_DIGITS = 7
const MAX_HASH_DIGITS = 64

/** Bytes of UTF-8 that are read at once. */
const BLOCK_BYTES = 1 << 16

const encoder = new TextEncoder()
const block = new Uint8Array(BLOCK_BYTES)

/**
 * What is read so far: nothing of a word, a word of these kinds of characters, or the mark after a
 * word of letters that may end a sentence.
 */
const OUTSIDE = 0
const HEX_LETTERS = 1
const LETTERS = 2
const DIGITS = 3
const HEX_DIGITS = 4
const MIXED = 5
const MARK = 6
const STATES = 7

/**
 * Fields of a step: whether it ends hex digits, the next state, and above these whether the byte is
 * another character, a word's end, a sentence's end: seven bits each, in which a stride of bytes is
 * added up.
 */
const ENDS_HEX_DIGITS = 1
const STATE_SHIFT = 8
const STATE_MASK = 7 << STATE_SHIFT
const COUNTS_SHIFT = 11
const FIELD_BITS = 7
const FIELD_MASK = (1 << FIELD_BITS) - 1
const OTHER = 1 << COUNTS_SHIFT
const WORD = OTHER << FIELD_BITS
const SENTENCE = WORD << FIELD_BITS
const STRIDE = FIELD_MASK

/** The step from each state at each byte of UTF-8, those beyond ASCII being letters. */
const STEPS = Int32Array.from({ length: STATES << STATE_SHIFT }, (_, place) =>
  stepAt(place >> STATE_SHIFT, place & 255),
)

function stepAt(state: number, c: number): number {
  const kind = wordKind(c) & IN_WORD
  const isOther = kind === 0 ? !isSpace(c) : (kind & (DIGIT | UNDERSCORE)) !== 0
  const step = isOther ? OTHER : 0
  if (kind !== 0) return step | (withKind(state, kind) << STATE_SHIFT)
  const isWord = state === HEX_LETTERS || state === LETTERS
  const next = isWord && isMark(c) ? MARK : OUTSIDE
  return (
    step |
    (isWord ? WORD : 0) |
    (state === MARK && isSpace(c) ? SENTENCE : 0) |
    (state === HEX_DIGITS ? ENDS_HEX_DIGITS : 0) |
    (next << STATE_SHIFT)
  )
}

function withKind(state: number, kind: number): number {
  if (kind === UNDERSCORE || state === MIXED) return MIXED
  const isFirst = state === OUTSIDE || state === MARK
  if (kind === LETTER)
    return isFirst || state === HEX_LETTERS || state === LETTERS ? LETTERS : MIXED
  if (kind === HEX_LETTER) {
    if (isFirst) return HEX_LETTERS
    return state === DIGITS ? HEX_DIGITS : state
  }
  if (isFirst) return DIGITS
  return state === HEX_LETTERS ? HEX_DIGITS : state === LETTERS ? MIXED : state
}

/**
 * Counts words, sentences and letters, and looks for a hash.
 * @param isHashKnown whether another text had one
 * @param mostOthers if the text has more characters that are neither letters nor white space, its
 * words need not be counted: after these and a hash the rest is not looked at
 */
export function scanWords(text: string, isHashKnown: boolean, mostOthers: number): WordFacts {
  let hash = isHashKnown
  let words = 0
  let sentences = 0
  /** Characters that are neither letters nor white space, all of them in ASCII. */
  let others = 0
  /** Shifted as in a step. */
  let state = OUTSIDE << STATE_SHIFT
  /** Hex digits at the end of the block before this one. */
  let before = 0
  const bytes = block
  const steps = STEPS
  for (let read = 0; read < text.length; ) {
    const step = encoder.encodeInto(read === 0 ? text : text.slice(read), bytes)
    read += step.read
    const end = step.written
    for (let at = 0; at < end; ) {
      const stop = Math.min(end, at + STRIDE)
      let counts = 0
      let next = 0
      while (at < stop && (next & ENDS_HEX_DIGITS) === 0) {
        next = steps[state | bytes[at++]!]!
        counts += next >>> COUNTS_SHIFT
        state = next & STATE_MASK
      }
      if ((next & ENDS_HEX_DIGITS) !== 0) hash ||= isHash(hexDigitsBefore(at - 1, before))
      others += counts & FIELD_MASK
      words += (counts >> FIELD_BITS) & FIELD_MASK
      sentences += counts >> (2 * FIELD_BITS)
      if (hash && others > mostOthers)
        return { hash, words, sentences, letters: text.length + 1 - others }
    }
    before = hexDigitsBefore(end, before)
  }
  const last = STEPS[state | SPACE]!
  if ((last & ENDS_HEX_DIGITS) !== 0) hash ||= isHash(before)
  if ((last & WORD) !== 0) words++
  if ((last & SENTENCE) !== 0) sentences++
  return { hash, words, sentences, letters: text.length + 1 - others }
}

/** How many hex digits stand before a place of the block, and before the block if it begins so. */
function hexDigitsBefore(end: number, before: number): number {
  let at = end
  while (at > 0 && isHexDigit(block[at - 1]!)) at--
  return end - at + (at === 0 ? before : 0)
}

function isHash(digits: number): boolean {
  return digits >= MIN_HASH_DIGITS && digits <= MAX_HASH_DIGITS
}

function isHexDigit(c: number): boolean {
  return (wordKind(c) & (DIGIT | HEX_LETTER)) !== 0
}

/** ASCII white space: space, and tab to carriage return. */
function isSpace(c: number): boolean {
  return c === SPACE || (c >= 0x09 && c <= 0x0d)
}

/** `.`, `!` or `?`. */
function isMark(c: number): boolean {
  return c === DOT || c === 0x21 || c === 0x3f
}
