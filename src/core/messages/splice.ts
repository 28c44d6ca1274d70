import { parseAt } from './json-node.ts'

/** A text for the string literal in the bytes `[start, end)`. */
export interface Replacement {
  readonly start: number
  readonly end: number
  readonly text: string
}

/**
 * Writes texts in place of string literals; every other byte stays, as do literals that mean their text already. The
 * new ones have the fewest escapes that JSON allows, lone surrogates among them.
 * @param replacements in the order of the body, apart from each other, as `scanRequest` gave their places
 * @returns `bytes` itself where nothing changes
 * @throws RangeError where the places are not like that
 */
export function splice(bytes: Uint8Array, replacements: readonly Replacement[]): Uint8Array {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const pieces: Uint8Array[] = []
  let from = 0
  for (const { start, end, text } of inOrder(replacements, bytes.length)) {
    if (parseAt(body, { start, end }) === text) continue
    // Well-formed JSON.stringify (ECMAScript 2019) escapes lone surrogates, so that UTF-8 can say the rest.
    pieces.push(body.subarray(from, start), Buffer.from(JSON.stringify(text)))
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
