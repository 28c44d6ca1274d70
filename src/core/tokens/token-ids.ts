import { createPieceMerger } from './merge-pieces.ts'
import { pieceEndCl100k, pieceEndO200k, SENTINEL } from './split-pieces.ts'
import { hashOfBytes, tokenId } from './token-index.ts'
import type { OpenVocabulary } from './vocabulary.ts'

/** Readable bytes past the text, since pieces are hashed by words. */
const PADDING_BYTES = 4

/** Ids of a text's tokens, for people who want to see them. Counting does not need them. */
export function tokenIds(text: string, vocabulary: OpenVocabulary): readonly number[] {
  const { encoding, classTable } = vocabulary
  const pieceEnd = encoding === 'o200k_base' ? pieceEndO200k : pieceEndCl100k
  const merger = createPieceMerger(vocabulary)
  const length = Buffer.byteLength(text)
  const bytes = new Uint8Array(length + PADDING_BYTES)
  new TextEncoder().encodeInto(text, bytes)
  bytes[length] = SENTINEL
  const view = new DataView(bytes.buffer)
  const ids: number[] = []
  for (let start = 0; start < length; ) {
    const end = pieceEnd(bytes, start, classTable)
    const whole = tokenId(vocabulary, bytes, start, end, hashOfBytes(view, start, end))
    if (whole >= 0) ids.push(whole)
    else for (const id of merger.ids(bytes, start, end)) ids.push(id)
    start = end
  }
  return ids
}
