/** The offset of the next occurrence at or after `from`, or -1. */
export type Search = (from: number) => number

/** The lower case of ASCII letters; other bytes stay. */
const FOLDED = Uint8Array.from({ length: 256 }, (_, c) => (c >= 0x41 && c <= 0x5a ? c + 0x20 : c))

/** Node compares so many bytes at each place that begins alike, and skips nothing. */
const PIECE_BYTES = 6
/** Bytes at the start of a body that tell which bytes are rare in it. */
const SAMPLE_BYTES = 64 * 1024
/** What a look at a place costs, in bytes that are passed over. */
const LOOK_BYTES = 256
/** Looks are free up to here, also in bytes. */
const FREE_BYTES = 16 * 1024

/**
 * Plain search for a text. A short piece of it is looked for by `Buffer.indexOf`, from its rarest
 * byte on, and the rest is compared. If too many pieces were not followed by the rest, the search
 * continues by Knuth, Morris and Pratt. So it is linear on every input. `Buffer.indexOf` of all the
 * text takes the product of both lengths on some.
 */
export function createSearch(body: Buffer, text: string, ignoreCase: boolean): Search {
  const needle = Buffer.from(text, 'utf8')
  return ignoreCase ? searchIn(folded(body), folded(needle)) : searchIn(body, needle)
}

function folded(bytes: Buffer): Buffer {
  const out = Buffer.allocUnsafe(bytes.length)
  for (let at = 0; at < bytes.length; at++) out[at] = FOLDED[bytes[at]!]!
  return out
}

function searchIn(bytes: Buffer, needle: Buffer): Search {
  const { length } = needle
  const offset = length <= PIECE_BYTES ? 0 : rarestByte(needle, bytes.subarray(0, SAMPLE_BYTES))
  const piece = needle.subarray(offset, offset + PIECE_BYTES)
  let borders: Uint32Array | undefined

  return from => {
    let spent = 0
    for (let at = from; at + length <= bytes.length; at++) {
      const found = bytes.indexOf(piece, at + offset)
      if (found < 0) return -1
      at = found - offset
      if (at + length > bytes.length) return -1
      if (bytes.compare(needle, 0, length, at, at + length) === 0) return at
      spent += length + LOOK_BYTES
      if (spent <= at - from + FREE_BYTES) continue
      borders ??= bordersOf(needle)
      return stepwise(bytes, needle, borders, at + 1)
    }
    return -1
  }
}

/** The place in a text of the byte that a sample has the fewest of. */
function rarestByte(needle: Buffer, sample: Buffer): number {
  const counts = new Uint32Array(256)
  for (const c of sample) counts[c]!++
  let rarest = 0
  for (const [at, c] of needle.entries()) {
    if (counts[c]! < counts[needle[rarest]!]!) rarest = at
  }
  return rarest
}

/** Knuth, Morris and Pratt. */
function stepwise(bytes: Buffer, needle: Buffer, borders: Uint32Array, from: number): number {
  let matched = 0
  for (let at = from; at < bytes.length; at++) {
    const c = bytes[at]!
    while (matched > 0 && needle[matched] !== c) matched = borders[matched - 1]!
    if (needle[matched] === c && ++matched === needle.length) return at - matched + 1
  }
  return -1
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
