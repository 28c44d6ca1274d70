/** The offset of the next occurrence at or after `from`, or -1. */
export type Search = (bytes: Uint8Array, from: number) => number

/** What a byte is compared as when ASCII letters match in both cases. */
const FOLDED = Uint8Array.from({ length: 256 }, (_, c) => (c >= 0x41 && c <= 0x5a ? c + 0x20 : c))
const AS_IT_IS = Uint8Array.from({ length: 256 }, (_, c) => c)

/** A jump to the next possible start pays from so many bytes on. */
const WORTH_BYTES = 32
/** Jumps that did not pay, after which one search makes no more of them. */
const MAX_POOR_JUMPS = 64

/**
 * Plain search by Knuth, Morris and Pratt: linear on every input, where `Buffer.indexOf` takes the
 * product of both lengths on some. Where the first byte is rare, most of the text is jumped over.
 */
export function createSearch(text: string, ignoreCase: boolean): Search {
  const table = ignoreCase ? FOLDED : AS_IT_IS
  const needle = new TextEncoder().encode(text).map(c => table[c]!)
  const borders = bordersOf(needle)
  const first = needle[0]!
  const canJump = !ignoreCase || !isLetter(first)

  return (bytes, from) => {
    let poorJumps = canJump ? 0 : MAX_POOR_JUMPS
    let matched = 0
    for (let at = from; at < bytes.byteLength; at++) {
      if (matched === 0 && poorJumps < MAX_POOR_JUMPS) {
        const start = bytes.indexOf(first, at)
        if (start < 0) return -1
        if (start - at < WORTH_BYTES) poorJumps++
        at = start
      }
      const c = table[bytes[at]!]!
      while (matched > 0 && needle[matched] !== c) matched = borders[matched - 1]!
      if (needle[matched] === c && ++matched === needle.byteLength) return at - matched + 1
    }
    return -1
  }
}

function isLetter(c: number): boolean {
  return c >= 0x61 && c <= 0x7a
}

/** For each prefix the length of its longest proper prefix that is also its suffix. */
function bordersOf(needle: Uint8Array): Uint32Array {
  const borders = new Uint32Array(needle.byteLength)
  for (let i = 1, border = 0; i < needle.byteLength; i++) {
    while (border > 0 && needle[border] !== needle[i]) border = borders[border - 1]!
    if (needle[border] === needle[i]) border++
    borders[i] = border
  }
  return borders
}
