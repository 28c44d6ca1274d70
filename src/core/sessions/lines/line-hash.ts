import type { SessionKey } from '../index/session-key.ts'

/**
 * Odd multipliers: primes of FNV-1a and of the finishers of MurmurHash3 (public domain constants).
 */
const MULTIPLIER_1 = 0x01000193
const MULTIPLIER_2 = 0x5bd1e995
const FINISH_1 = 0x85ebca6b
const FINISH_2 = 0xc2b2ae35

/**
 * Two 32-bit hashes of bytes at once, seeded with a session's key. They find candidates and prove
 * nothing. An attacker who knows the key can make collisions; for that reason candidates per hash
 * are few.
 */
export interface LineHasher {
  hash(bytes: DataView, start: number, end: number): void
  /** Of the bytes hashed last; never 0. */
  first(): number
  second(): number
}

export function createLineHasher(key: SessionKey): LineHasher {
  const seed1 = finish(key[0] ^ Math.imul(key[2], FINISH_1))
  const seed2 = finish(key[1] ^ Math.imul(key[3], FINISH_2))
  let one = 0
  let two = 0
  return {
    hash(bytes, start, end) {
      let a = seed1
      let b = seed2
      let at = start
      for (; at + 4 <= end; at += 4) {
        const word = bytes.getInt32(at, true)
        a = Math.imul(a ^ word, MULTIPLIER_1)
        a ^= a >>> 15
        b = Math.imul(b + word, MULTIPLIER_2) ^ (b >>> 13)
      }
      for (; at < end; at++) {
        const byte = bytes.getUint8(at)
        a = Math.imul(a ^ byte, MULTIPLIER_1)
        b = Math.imul(b + byte, MULTIPLIER_2) ^ (b >>> 13)
      }
      one = finish(a ^ (end - start)) || 1
      two = finish(b)
    },
    first: () => one,
    second: () => two,
  }
}

function finish(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), FINISH_1)
  mixed = Math.imul(mixed ^ (mixed >>> 13), FINISH_2)
  return mixed ^ (mixed >>> 16)
}
