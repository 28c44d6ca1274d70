/** JSON for the bytes `[start, end)`; nothing if `literal` is empty. */
export interface Replacement {
  readonly start: number
  readonly end: number
  readonly literal: Uint8Array
}

/** A text as a JSON string with the fewest escapes, in UTF-8; lone surrogates stay escapes. */
export function literalOf(text: string): Uint8Array {
  // Well-formed JSON.stringify (ECMAScript 2019) escapes lone surrogates, so that UTF-8 can encode
  // the rest.
  return Buffer.from(JSON.stringify(text))
}

/**
 * Replaces values by others; every other byte stays.
 * @param replacements in the order of the body, none within another
 * @returns `bytes` itself if nothing changes
 * @throws RangeError if the places are not like that
 */
export function splice(bytes: Uint8Array, replacements: readonly Replacement[]): Uint8Array {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const pieces: Uint8Array[] = []
  let from = 0
  for (const { start, end, literal } of inOrder(replacements, bytes.length)) {
    const isAsLong = literal.length === end - start
    if (isAsLong && body.compare(literal, 0, literal.length, start, end) === 0) continue
    pieces.push(body.subarray(from, start), literal)
    from = end
  }
  if (pieces.length === 0) return bytes
  pieces.push(body.subarray(from))
  return joined(pieces)
}

function inOrder(replacements: readonly Replacement[], length: number): readonly Replacement[] {
  let from = 0
  for (const { start, end } of replacements) {
    if (start < from || end <= start || end > length) {
      throw new RangeError(`no place for a text: bytes ${start} to ${end} of ${length}`)
    }
    from = end
  }
  return replacements
}

/** In a buffer of its own, which can be transferred. */
function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    out.set(piece, at)
    at += piece.length
  }
  return out
}
