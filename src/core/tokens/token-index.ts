/** Which byte strings are tokens: the vocabulary's open-addressed index over the tokens' bytes. */
import { EMPTY, ID_BITS, ID_MASK, type OpenVocabulary } from './vocabulary.ts'

/**
 * Slot values: id in the low bits, the hash's top bits as a tag above, so that most misses end in
 * one read.
 */
function tagOf(hash: number): number {
  return hash >>> ID_BITS
}

/** Id of the token with these bytes and this hash (`hashOfBytes`), or -1. */
export function tokenId(
  vocabulary: OpenVocabulary,
  bytes: Uint8Array,
  start: number,
  end: number,
  hash: number,
): number {
  const { tokenIndex, tokenStarts, tokenBytes } = vocabulary
  const mask = tokenIndex.length - 1
  const tag = tagOf(hash)
  for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
    const entry = tokenIndex[slot]!
    if (entry === EMPTY) return -1
    if (entry >>> ID_BITS !== tag) continue
    const id = entry & ID_MASK
    let at = tokenStarts[id]!
    if (tokenStarts[id + 1]! - at !== end - start) continue
    let i = start
    while (i < end && bytes[i] === tokenBytes[at]) {
      i++
      at++
    }
    if (i === end) return id
  }
}

/** Adds a token that is not in the index yet. */
export function addToken(tokenIndex: Int32Array, id: number, hash: number): void {
  const mask = tokenIndex.length - 1
  let slot = hash & mask
  while (tokenIndex[slot] !== EMPTY) slot = (slot + 1) & mask
  tokenIndex[slot] = id | (tagOf(hash) << ID_BITS)
}
