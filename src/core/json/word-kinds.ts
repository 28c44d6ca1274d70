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
