import {
  BRACKET_BIT,
  CLOSE_PARENTHESIS_BIT,
  COLON_BIT,
  COMMA_BIT,
  LINE_FEED_BIT,
  NAME_SIGN_BIT,
  PARENTHESIS_BIT,
  QUOTE_BIT,
  SEMICOLON_BIT,
  UNSAFE_BIT,
} from '../../text-content.ts'

/** Marks of the grammar in docs/reference/formats.md, "tree@2". */
export const ITEM_MARK = '- '
export const FENCE_CHAR = '`'
export const SHORTEST_FENCE = 3
/** Bounds the search for the end of a fence. */
export const LONGEST_FENCE = 64
/** Represents the cell's own text in the pattern of a column. */
export const PATTERN_MARK = '*'
export const ROW_SEPARATOR = ';'
/** A cell whose member is not there. The string is in quotes. */
export const ABSENT_MARK = '-'
/** Between the cells of a row. */
export const SEPARATOR = ','
/**
 * Follows a key, after `(` and the name of the spacing. The key's value is then the JSON text of
 * the value that follows.
 */
export const JSON_MARK = ' json)'
/** Name that the header gives to the keys of a keyed table; only its place counts. */
export const KEY_COLUMN = 'key'

const ALWAYS = LINE_FEED_BIT | UNSAFE_BIT
/** Characters that end or break a bare string on a line of its own. */
export const NOT_IN_LINE = ALWAYS
/** ... as an item of a list, in which a colon makes it a member. */
export const NOT_IN_ITEM = ALWAYS | COLON_BIT
/** ... in brackets, and in rows inside a cell. */
export const NOT_INLINE = ALWAYS | COMMA_BIT | SEMICOLON_BIT | BRACKET_BIT
/** ... as a cell of a table. */
export const NOT_IN_CELL = ALWAYS | COMMA_BIT
/** ... as a cell of a shape. */
export const NOT_IN_SHAPE = ALWAYS | COMMA_BIT | CLOSE_PARENTHESIS_BIT
export const NOT_IN_INLINE_KEY = NOT_INLINE | COLON_BIT | QUOTE_BIT
/** ... as the key of a line, in which dots make a path. */
export const NOT_IN_KEY =
  ALWAYS | COLON_BIT | QUOTE_BIT | BRACKET_BIT | NAME_SIGN_BIT | PARENTHESIS_BIT
/** ... as a name in a header. */
export const NOT_IN_HEADER = NOT_INLINE | COLON_BIT | QUOTE_BIT | NAME_SIGN_BIT
/** ... as a constant or affix in a header, which may hold dots and colons as well. */
export const NOT_IN_AFFIX = NOT_INLINE | QUOTE_BIT

/** Names that a shape may have, each with its parenthesis one or two tokens. */
export const SHAPE_NAMES: readonly string[] = [
  ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
]
