const WORDS = 8
const DIGITS = 64

/** Values of hexadecimal digits by character code; 255 for what is none. */
const VALUES = new Uint8Array(128).fill(255)
for (const [value, digit] of [...'0123456789abcdef'].entries()) VALUES[digit.charCodeAt(0)] = value

/**
 * Reads SHA-256 digests in lower-case hexadecimal into words. The last one is remembered, because a request asks
 * about one body several times.
 */
export interface IdentityReader {
  /** The digest's eight words, valid until the next call. @throws RangeError where it is no digest */
  read(identity: string): Int32Array
}

export function createIdentityReader(): IdentityReader {
  const words = new Int32Array(WORDS)
  let last = ''
  return {
    read(identity) {
      if (identity === last) return words
      if (identity.length !== DIGITS) throw new RangeError('an identity has 64 digits')
      last = ''
      for (let at = 0; at < WORDS; at++) {
        let word = 0
        for (let digit = at * 8; digit < at * 8 + 8; digit++) {
          const value = VALUES[identity.charCodeAt(digit)] ?? 255
          if (value === 255) throw new RangeError('an identity is lower-case hexadecimal')
          word = (word << 4) | value
        }
        words[at] = word
      }
      last = identity
      return words
    },
  }
}

/** Whether the eight words of `words` from `at` on are `identity`. */
export function sameIdentity(words: Int32Array, at: number, identity: Int32Array): boolean {
  for (let i = 0; i < WORDS; i++) if (words[at + i] !== identity[i]) return false
  return true
}

/** Hexadecimal digits with which both begin; 64 where they are the same. */
export function commonDigits(words: Int32Array, at: number, identity: Int32Array): number {
  for (let i = 0; i < WORDS; i++) {
    const difference = words[at + i]! ^ identity[i]!
    if (difference !== 0) return i * 8 + (Math.clz32(difference) >>> 2)
  }
  return DIGITS
}

/** The digest of the eight words from `at` on. */
export function identityText(words: Int32Array, at: number): string {
  let text = ''
  for (let i = 0; i < WORDS; i++) text += (words[at + i]! >>> 0).toString(16).padStart(8, '0')
  return text
}
