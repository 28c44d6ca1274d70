/** Where a text may be cut so that the parts' counts add up: see docs/tokens.md, "Safe boundaries". */

/**
 * The last position in a block of UTF-8 where both patterns split whatever stands around it: after an ASCII
 * letter or digit and before white space, or after a line feed and before what is neither white space nor `/`.
 * @returns bytes from `start`, or 0 if there is no such position
 */
export function lastSafeBoundary(bytes: Uint8Array, start: number, length: number): number {
  for (let at = start + length - 1; at > start; at--) {
    const before = KIND[bytes[at - 1]!]!
    const after = KIND[bytes[at]!]!
    if (
      before === WORD ? after >= NEWLINE : before === NEWLINE && after > NEITHER && after < NEWLINE
    ) {
      return at - start
    }
  }
  return 0
}

/** Slash, bytes of longer sequences that may be white space, continuation bytes. */
const NEITHER = 0
const SYMBOL = 1
const WORD = 2
const NEWLINE = 3
const SPACE = 4

const KIND = kindsOfBytes()

function kindsOfBytes(): Uint8Array {
  const kinds = new Uint8Array(256)
  for (let byte = 0; byte < 0x80; byte++) {
    const char = String.fromCharCode(byte)
    if (/[0-9A-Za-z]/.test(char)) kinds[byte] = WORD
    else if (/[\r\n]/.test(char)) kinds[byte] = NEWLINE
    else if (/[\t\v\f ]/.test(char)) kinds[byte] = SPACE
    else if (char !== '/') kinds[byte] = SYMBOL
  }
  // No white space lies beyond U+3000, that is, beyond the lead byte E3.
  kinds.fill(SYMBOL, 0xe4, 0xf5)
  return kinds
}
