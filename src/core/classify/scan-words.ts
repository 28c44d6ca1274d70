import { BEYOND_ASCII, createTextCodes } from '../base/text-codes.ts'
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
  /** Letters and white space, in UTF-16 code units. */
  readonly letters: number
}

/** Abbreviated commit ids have 7 digits, SHA-256 has 64. */
const MIN_HASH_DIGITS = 7
const MAX_HASH_DIGITS = 64

/** Class of white space in `CLASSES`, beside those of `wordKind`. */
const WHITE_SPACE = 32
/** `wordKind` of each code that is in a word, and `WHITE_SPACE`. */
const CLASSES = Uint8Array.from({ length: BEYOND_ASCII + 1 }, (_, c) =>
  isSpace(c) ? WHITE_SPACE : wordKind(c) & IN_WORD,
)

const codesOf = createTextCodes()

/**
 * Counts words, sentences and letters, and looks for a hash.
 * @param isHashKnown whether another text had one
 * @param mostOthers if the text has more characters that are neither letters nor white space, its
 * words need not be counted: after these and a hash the rest is not looked at
 */
export function scanWords(text: string, isHashKnown: boolean, mostOthers: number): WordFacts {
  const codes = codesOf(text)
  const { length } = text
  let hash = isHashKnown
  let words = 0
  let sentences = 0
  let letters = 0
  let seen = 0
  let start = 0
  for (let at = 0; at <= length; at++) {
    const c = at < length ? codes[at]! : SPACE
    const kind = CLASSES[c]!
    if ((kind & IN_WORD) !== 0) {
      seen |= kind
      if ((kind & (LETTER | HEX_LETTER)) !== 0) letters++
      continue
    }
    if (kind === WHITE_SPACE) letters++
    if (seen === (DIGIT | HEX_LETTER)) {
      const digits = at - start
      hash ||= digits >= MIN_HASH_DIGITS && digits <= MAX_HASH_DIGITS
    } else if (seen !== 0 && (seen & (DIGIT | UNDERSCORE)) === 0) {
      words++
      if (isSentenceEnd(c) && (at + 1 >= length || isSpace(codes[at + 1]!))) sentences++
    }
    seen = 0
    start = at + 1
    if (hash && start - letters > mostOthers) break
  }
  return { hash, words, sentences, letters }
}

/** ASCII white space: space, and tab to carriage return. */
function isSpace(c: number): boolean {
  return c === SPACE || (c >= 0x09 && c <= 0x0d)
}

/** `.`, `!` or `?`. */
function isSentenceEnd(c: number): boolean {
  return c === DOT || c === 0x21 || c === 0x3f
}
