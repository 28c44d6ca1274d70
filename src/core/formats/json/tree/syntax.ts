import {
  BRACKET_BIT,
  CLOSE_PARENTHESIS_BIT,
  COLON_BIT,
  COMMA_BIT,
  LINE_FEED_BIT,
  NAME_SIGN_BIT,
  PARENTHESIS_BIT,
  PIPE_BIT,
  QUOTE_BIT,
  SEMICOLON_BIT,
  SPACE_BIT,
  TAB_BIT,
  UNSAFE_BIT,
} from '../../text-content.ts'

/** Marks of the grammar in docs/reference/formats.md, "tree@1". */
export const ITEM_MARK = '- '
export const FENCE_CHAR = '`'
export const SHORTEST_FENCE = 3
/** Bounds the search for the end of a fence. */
export const LONGEST_FENCE = 64
/** Represents the cell's own text in the pattern of a column. */
export const PATTERN_MARK = '*'
export const ROW_SEPARATOR = ';'
/** In the rows of a table whose head has it: an empty cell, if several stand together. */
export const ABSENT_MARK = '-'
/** In the head of a table: each row whose number is a multiple of the step begins with it. */
export const NUMBER_MARK = '#'
export const NUMBERED_STEP = 25

/** The number of a row and the space after it, by the rows before it; none for most rows. */
export function rowNumber(before: number): string {
  return (before + 1) % NUMBERED_STEP === 0 ? `${NUMBER_MARK}${before + 1} ` : ''
}

/** Fewer empty cells need no mark. */
export const FEWEST_MARKED = 2
/** Cells of rows inside a cell. */
export const INNER_SEPARATOR = ','
/**
 * Follows a key, after `(` and the name of the spacing. The key's value is then the JSON text of
 * the value that follows.
 */
export const JSON_MARK = ' json)'
/** Name that the header gives to the keys of a keyed table; only its place counts. */
export const KEY_COLUMN = 'key'

/** Separators between the cells of a row; a comma unless the table's head has another one. */
export type Separator = ',' | '\t' | '|' | ' '

export const SEPARATOR_BITS: Readonly<Record<Separator, number>> = {
  ',': COMMA_BIT,
  '\t': TAB_BIT,
  '|': PIPE_BIT,
  ' ': SPACE_BIT,
}

const ALWAYS = LINE_FEED_BIT | UNSAFE_BIT
/** Characters that end or break a bare string on a line of its own. */
export const NOT_IN_LINE = ALWAYS
/** ... as an item of a list, in which a colon makes it a member. */
export const NOT_IN_ITEM = ALWAYS | COLON_BIT
/** ... in brackets, and in rows inside a cell. */
export const NOT_INLINE = ALWAYS | COMMA_BIT | SEMICOLON_BIT | BRACKET_BIT
/** ... as a cell of a shape. */
export const NOT_IN_SHAPE = ALWAYS | COMMA_BIT | CLOSE_PARENTHESIS_BIT
export const NOT_IN_INLINE_KEY = NOT_INLINE | COLON_BIT | QUOTE_BIT
/** ... as the key of a line, in which dots make a path. */
export const NOT_IN_KEY =
  ALWAYS | COLON_BIT | QUOTE_BIT | BRACKET_BIT | NAME_SIGN_BIT | PARENTHESIS_BIT
/** ... as a name, constant or affix in a header, whatever its separator. */
export const NOT_IN_HEADER = NOT_INLINE | COLON_BIT | QUOTE_BIT | TAB_BIT | PIPE_BIT | NAME_SIGN_BIT
/** Affixes and constants may hold dots and colons as well. */
export const NOT_IN_AFFIX = NOT_INLINE | QUOTE_BIT | TAB_BIT | PIPE_BIT

/** ... as the prefix or suffix of the strings of a list, after which a colon follows. */
export const NOT_IN_LIST_AFFIX = NOT_IN_AFFIX | COLON_BIT

/** Characters that a bare string in a cell of this table must not contain. */
export function notInCell(separator: Separator): number {
  return ALWAYS | SEPARATOR_BITS[separator]
}

/** Names that a shape may have, each with its parenthesis one or two tokens. */
export const SHAPE_NAMES: readonly string[] = [
  ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
]
