/**
 * The split patterns as automata over ASCII bytes: the fast path of the pre-tokenizer, one table
 * read for each byte. A piece with a byte of a longer sequence is left to `split-pieces.ts`. The
 * tests compare the tables with that file too.
 */
import type { Encoding } from './profiles.ts'
import { SENTINEL } from './split-pieces.ts'

/** States of a piece's first bytes; the row of the table is `state << 8`. */
const START = 0
const UPPER = 1
const LOWER = 2
const DIGIT_1 = 3
const DIGIT_2 = 4
const DIGIT_3 = 5
/** One symbol, which letters may follow. */
const SYMBOL = 6
/** Symbols that only symbols and newlines may follow. */
const SYMBOLS = 7
const SYMBOLS_NEWLINE = 8
/** One blank, which letters or symbols may follow. */
const BLANK = 9
/** One other space, which letters may follow. */
const TAB = 10
/** Two or more spaces, no newline yet. */
const SPACES = 11
/** White space up to a newline. */
const SPACES_NEWLINE = 12
/** White space with a newline, and spaces after it. */
const SPACES_AFTER_NEWLINE = 13
/** An apostrophe at the start, in cl100k_base. */
const APOSTROPHE = 14
/**
 * `'r` or `'v` at the start, in cl100k_base: a contraction with `e`, else a symbol before a word.
 */
const APOSTROPHE_E = 15
/** The same for `'l` and `l`. */
const APOSTROPHE_L = 16
/**
 * An apostrophe after a word, in o200k_base: the piece ends before it unless a contraction follows.
 */
const WORD_APOSTROPHE = 17
const WORD_APOSTROPHE_E = 18
const WORD_APOSTROPHE_L = 19
/** Nothing can follow. */
const COMPLETE = 20
const STATES = 21

/**
 * The piece ends before this byte. This and larger values end the walk; the kernel knows them by
 * number.
 */
const STOP = 24
/**
 * It ends one byte earlier: a last space belongs to what follows, or an apostrophe begins no
 * contraction.
 */
const STOP_1_BACK = 25
/** It ends two bytes earlier. */
const STOP_2_BACK = 26
/** It ends after the last newline before this byte. */
const STOP_AFTER_NEWLINE = 27
/** Only `split-pieces.ts` knows: a byte of a longer sequence. */
const STOP_UNKNOWN = 28

/**
 * Rules in the order of precedence: state, characters as a class of a regular expression, what
 * follows.
 */
type Rule = readonly [from: number, characters: string, to: number]

const SYMBOL_CHARS = '!-\\/:-@\\[-`{-~\\x00-\\x08\\x0e-\\x1f\\x7f'
const LETTER_STARTS: readonly number[] = [START, SYMBOL, BLANK, TAB]

const COMMON: readonly Rule[] = [
  ...[START, DIGIT_1, DIGIT_2].map((from, i): Rule => [from, '0-9', DIGIT_1 + i]),
  [START, SYMBOL_CHARS, SYMBOL],
  [START, ' ', BLANK],
  [START, '\\t\\v\\f', TAB],
  [START, '\\r\\n', SPACES_NEWLINE],
  ...[SYMBOL, SYMBOLS, BLANK].map((from): Rule => [from, SYMBOL_CHARS, SYMBOLS]),
  ...[SYMBOL, SYMBOLS, SYMBOLS_NEWLINE].map((from): Rule => [from, '\\r\\n', SYMBOLS_NEWLINE]),
  ...[BLANK, TAB, SPACES].map((from): Rule => [from, '\\t\\v\\f ', SPACES]),
  ...[BLANK, TAB, SPACES, SPACES_NEWLINE, SPACES_AFTER_NEWLINE].map(
    (from): Rule => [from, '\\r\\n', SPACES_NEWLINE],
  ),
  [SPACES_NEWLINE, '\\t\\v\\f ', SPACES_AFTER_NEWLINE],
  [SPACES_AFTER_NEWLINE, '\\t\\v\\f ', SPACES_AFTER_NEWLINE],
  [SPACES_AFTER_NEWLINE, '\\x00-\\x7f\\xff', STOP_AFTER_NEWLINE],
  [SPACES, '\\x00-\\x7f', STOP_1_BACK],
]

const O200K: readonly Rule[] = [
  ...[...LETTER_STARTS, UPPER].map((from): Rule => [from, 'A-Z', UPPER]),
  ...[...LETTER_STARTS, UPPER, LOWER].map((from): Rule => [from, 'a-z', LOWER]),
  [UPPER, "'", WORD_APOSTROPHE],
  [LOWER, "'", WORD_APOSTROPHE],
  [WORD_APOSTROPHE, 'sStTmMdD', COMPLETE],
  [WORD_APOSTROPHE, 'rRvV', WORD_APOSTROPHE_E],
  [WORD_APOSTROPHE, 'lL', WORD_APOSTROPHE_L],
  [WORD_APOSTROPHE, '\\x00-\\x7f\\xff', STOP_1_BACK],
  [WORD_APOSTROPHE_E, 'eE', COMPLETE],
  [WORD_APOSTROPHE_E, '\\x00-\\xff', STOP_2_BACK],
  [WORD_APOSTROPHE_L, 'lL', COMPLETE],
  [WORD_APOSTROPHE_L, '\\x00-\\xff', STOP_2_BACK],
  [SYMBOLS_NEWLINE, '\\/', SYMBOLS_NEWLINE],
  ...COMMON,
]

const CL100K: readonly Rule[] = [
  [START, "'", APOSTROPHE],
  [APOSTROPHE, 'sStTmMdD', COMPLETE],
  [APOSTROPHE, 'rRvV', APOSTROPHE_E],
  [APOSTROPHE, 'lL', APOSTROPHE_L],
  [APOSTROPHE_E, 'eE', COMPLETE],
  [APOSTROPHE_L, 'lL', COMPLETE],
  ...[...LETTER_STARTS, LOWER, APOSTROPHE, APOSTROPHE_E, APOSTROPHE_L].map(
    (from): Rule => [from, 'A-Za-z', LOWER],
  ),
  [APOSTROPHE, SYMBOL_CHARS, SYMBOLS],
  [APOSTROPHE, '\\r\\n', SYMBOLS_NEWLINE],
  ...COMMON,
]

/** States after which no byte of a longer sequence can continue the piece. */
const CLOSED: readonly number[] = [DIGIT_3, SYMBOLS_NEWLINE, COMPLETE]

/**
 * The table of an encoding: `table[(state << 8) | byte]` is the next state, or a `STOP…`. Starts at
 * state 0 with the piece's first byte; the byte after the text must be SENTINEL.
 */
export function asciiAutomaton(encoding: Encoding): Uint8Array {
  const table = new Uint8Array(STATES << 8).fill(STOP_UNKNOWN)
  for (let state = 0; state < STATES; state++) {
    const row = table.subarray(state << 8, (state + 1) << 8)
    row.fill(STOP, 0, CLOSED.includes(state) ? 256 : 0x80)
    row[SENTINEL] = STOP
  }
  const rules = encoding === 'o200k_base' ? O200K : CL100K
  for (const [from, characters, to] of rules.toReversed()) {
    const included = new RegExp(`[${characters}]`)
    for (let byte = 0; byte < 256; byte++) {
      if (included.test(String.fromCharCode(byte))) table[(from << 8) | byte] = to
    }
  }
  return table
}
