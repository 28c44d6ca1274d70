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
const TOKENS: i32 = 0x10000
const TOKENS_BITS: i32 = 17
const SEEN_BITS: i32 = 15

const STOP: i32 = 24
const STOP_1_BACK: i32 = 25
const STOP_2_BACK: i32 = 26
const STOP_AFTER_NEWLINE: i32 = 27

const SHORT_BYTES: i32 = 15
/** A slot's second word but for its count. */
const WITHOUT_TOKENS: u64 = 0xf0ffffffffffffff

/**
 * Tokens of the text from `start` to `end`, where a 0xFF byte stands; stops early at more than `limit`. Short pieces are
 * remembered in the table at `seen`.
 */
export function countBlock(start: i32, end: i32, limit: i32, seen: i32): i32 {
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
    total += length <= SHORT_BYTES ? countShort(at, next, length, seen) : countPiece(at, next)
    at = next
    pieces++
  }
  store<i32>(PIECES, load<i32>(PIECES) + pieces)
  return total
}

/**
 * A slot is the piece's bytes, padded with zeros to 15, and one byte of length << 4 | tokens. Each piece has two
 * slots, side by side in one cache line. The table of tokens never changes once it is filled; among the pieces that
 * were seen, a new one takes the first slot, whose old one moves over.
 */
// @ts-ignore: decorator
@inline
function countShort(at: i32, end: i32, length: i32, seen: i32): i32 {
  const low = lowOf(at, length)
  const high = highOf(at, length)
  const hash = hashOf(low, high)
  const known = tokensAt(TOKENS + slotOf(hash, TOKENS_BITS), low, high)
  return known > 0 ? known : countSeen(at, end, seen + slotOf(hash, SEEN_BITS), low, high)
}

function countSeen(at: i32, end: i32, slot: i32, low: u64, high: u64): i32 {
  const known = tokensAt(slot, low, high)
  if (known > 0) return known
  const tokens = countPiece(at, end)
  store<u64>(slot ^ 16, load<u64>(slot))
  store<u64>(slot ^ 16, load<u64>(slot, 8), 8)
  store<u64>(slot, low)
  store<u64>(slot, high | ((<u64>tokens) << 56), 8)
  return tokens
}

/** Puts a token into the table of tokens, if one of its two slots is free. */
export function addToken(at: i32, end: i32): void {
  const length = end - at
  const low = lowOf(at, length)
  const high = highOf(at, length)
  let slot = TOKENS + slotOf(hashOf(low, high), TOKENS_BITS)
  if (load<u64>(slot, 8) != 0) slot ^= 16
  if (load<u64>(slot, 8) != 0) return
  store<u64>(slot, low)
  store<u64>(slot, high | ((<u64>1) << 56), 8)
}

/** The piece's first eight bytes. */
// @ts-ignore: decorator
@inline
function lowOf(at: i32, length: i32): u64 {
  return load<u64>(at) & load<u64>(length << 4, MASKS)
}

/** Its other bytes and its length. */
// @ts-ignore: decorator
@inline
function highOf(at: i32, length: i32): u64 {
  return (load<u64>(at, 8) & load<u64>(length << 4, MASKS + 8)) | ((<u64>length) << 60)
}

// @ts-ignore: decorator
@inline
function hashOf(low: u64, high: u64): u64 {
  let hash = (low * 0x9e3779b97f4a7c15) ^ (high * 0xc2b2ae3d27d4eb4f)
  hash ^= hash >> 32
  return hash * 0x9e3779b97f4a7c15
}

// @ts-ignore: decorator
@inline
function slotOf(hash: u64, bits: i32): i32 {
  return <i32>(hash >> (64 - bits)) << 4
}

/** Tokens of the piece, if one of two slots has it; else 0. */
// @ts-ignore: decorator
@inline
function tokensAt(slot: i32, low: u64, high: u64): i32 {
  const first = load<u64>(slot, 8)
  if (((load<u64>(slot) ^ low) | ((first & WITHOUT_TOKENS) ^ high)) == 0) {
    return <i32>(first >> 56) & 15
  }
  const second = load<u64>(slot ^ 16, 8)
  if (((load<u64>(slot ^ 16) ^ low) | ((second & WITHOUT_TOKENS) ^ high)) == 0) {
    return <i32>(second >> 56) & 15
  }
  return 0
}
