/**
 * The inner loop of token counting, in AssemblyScript: walks the split pattern's automaton over UTF-8 bytes and
 * looks each short piece up in a cache. Everything rare is asked of the host. Compiled by `build-kernel.ts`;
 * the addresses, the states' numbers and the slots' form are those of `src/core/tokens/kernel.ts`.
 */

/** End of the piece at `start` that holds bytes beyond ASCII. */
@external("host", "pieceEnd") declare function pieceEnd(start: i32): i32
/** Tokens of a piece that is not in the cache. */
@external("host", "countPiece") declare function countPiece(start: i32, end: i32): i32

const AUTOMATON: i32 = 0
const MASKS: i32 = 0x2000
const PIECES: i32 = 0x2200
const CACHE: i32 = 0x10000
const SLOT_BITS: i32 = 17

const STOP: i32 = 24
const STOP_1_BACK: i32 = 25
const STOP_2_BACK: i32 = 26
const STOP_AFTER_NEWLINE: i32 = 27

const SHORT_BYTES: i32 = 15
/** A slot's second word but for its count. */
const WITHOUT_TOKENS: u64 = 0xf0ffffffffffffff

/** Tokens of the text from `start` to `end`, where a 0xFF byte stands; stops early at more than `limit`. */
export function countBlock(start: i32, end: i32, limit: i32): i32 {
  let total = 0
  let pieces = 0
  let at = start
  while (at < end && total <= limit) {
    let state: i32 = load<u8>(load<u8>(at), AUTOMATON)
    let next = at + 1
    while (state < STOP) {
      state = load<u8>((state << 8) | load<u8>(next), AUTOMATON)
      next++
    }
    next--
    if (state != STOP) {
      if (state == STOP_1_BACK) next -= 1
      else if (state == STOP_2_BACK) next -= 2
      else if (state == STOP_AFTER_NEWLINE) {
        while (load<u8>(next - 1) != 0x0a && load<u8>(next - 1) != 0x0d) next--
      } else next = pieceEnd(at)
    }
    const length = next - at
    total += length <= SHORT_BYTES ? countShort(at, next, length) : countPiece(at, next)
    at = next
    pieces++
  }
  store<i32>(PIECES, load<i32>(PIECES) + pieces)
  return total
}

/**
 * A slot is the piece's bytes, padded with zeros to 15, and one byte of length << 4 | tokens. Each piece has two
 * slots, side by side in one cache line; a new piece takes the first, whose old one moves over.
 */
// @ts-ignore: decorator
@inline
function countShort(at: i32, end: i32, length: i32): i32 {
  const mask = length << 4
  const low = load<u64>(at) & load<u64>(mask, MASKS)
  const high = (load<u64>(at, 8) & load<u64>(mask, MASKS + 8)) | ((<u64>length) << 60)
  let hash = (low * 0x9e3779b97f4a7c15) ^ (high * 0xc2b2ae3d27d4eb4f)
  hash ^= hash >> 32
  hash *= 0x9e3779b97f4a7c15
  const slot = <i32>(hash >> (64 - SLOT_BITS)) << 4
  const first = load<u64>(slot, CACHE + 8)
  if (((load<u64>(slot, CACHE) ^ low) | ((first & WITHOUT_TOKENS) ^ high)) == 0) {
    return <i32>(first >> 56) & 15
  }
  const other = slot ^ 16
  const second = load<u64>(other, CACHE + 8)
  if (((load<u64>(other, CACHE) ^ low) | ((second & WITHOUT_TOKENS) ^ high)) == 0) {
    return <i32>(second >> 56) & 15
  }
  const tokens = countPiece(at, end)
  store<u64>(other, load<u64>(slot, CACHE), CACHE)
  store<u64>(other, first, CACHE + 8)
  store<u64>(slot, low, CACHE)
  store<u64>(slot, high | ((<u64>tokens) << 56), CACHE + 8)
  return tokens
}
