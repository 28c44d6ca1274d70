/** UTF-16 code units that scanners compare with, by name. */
export const TAB = 0x09
export const LINE_FEED = 0x0a
export const CARRIAGE_RETURN = 0x0d
export const SPACE = 0x20
export const QUOTE = 0x22
export const OPEN_PARENTHESIS = 0x28
export const CLOSE_PARENTHESIS = 0x29
export const ASTERISK = 0x2a
export const PLUS = 0x2b
export const COMMA = 0x2c
export const MINUS = 0x2d
export const DOT = 0x2e
export const SLASH = 0x2f
export const DIGIT_0 = 0x30
export const DIGIT_9 = 0x39
export const COLON = 0x3a
export const SEMICOLON = 0x3b
export const EQUALS = 0x3d
export const AT_SIGN = 0x40
export const UPPER_E = 0x45
export const UPPER_T = 0x54
export const OPEN_BRACKET = 0x5b
export const BACKSLASH = 0x5c
export const CLOSE_BRACKET = 0x5d
export const BACKTICK = 0x60
export const LOWER_A = 0x61
export const LOWER_D = 0x64
export const LOWER_E = 0x65
export const LOWER_F = 0x66
export const LOWER_N = 0x6e
export const LOWER_T = 0x74
export const LOWER_U = 0x75
export const OPEN_BRACE = 0x7b
export const PIPE = 0x7c
export const CLOSE_BRACE = 0x7d
export const RIGHT_ARROW = 0x2192
export const FIRST_SURROGATE = 0xd800
export const LAST_SURROGATE = 0xdfff
export const BYTE_ORDER_MARK = 0xfeff

/**
 * What a character is in a word; bits of `wordKind`, none of them for white space and most signs.
 */
export const HEX_LETTER = 1
export const LETTER = 2
export const DIGIT = 4
export const UNDERSCORE = 8
/** `-` and `.`, which end a word, but also join the words of one name. */
const JOINER = 16

/** What words are made of. */
export const IN_WORD = HEX_LETTER | LETTER | DIGIT | UNDERSCORE

const KINDS = new Uint8Array(128)
for (let c = 0; c < 128; c++) {
  const char = String.fromCharCode(c)
  if (/[a-fA-F]/.test(char)) KINDS[c] = HEX_LETTER
  else if (/[g-zG-Z]/.test(char)) KINDS[c] = LETTER
  else if (/[0-9]/.test(char)) KINDS[c] = DIGIT
  else if (char === '_') KINDS[c] = UNDERSCORE
  else if (/[.-]/.test(char)) KINDS[c] = JOINER
}

/**
 * The kind of a code unit. Beyond ASCII all are letters, so that neither words nor pairs of
 * surrogates are cut.
 */
export function wordKind(c: number): number {
  return c < 128 ? KINDS[c]! : LETTER
}
