const BYTES = 32
const WORDS = 8
const DIGITS = 64

/**
 * Reads SHA-256 digests in hexadecimal into words. The last one is remembered, because a request
 * asks about one body several times.
 */
export interface IdentityReader {
  /**
   * The digest's eight words, valid until the next call.
   * @throws RangeError if it is no digest
   */
  read(identity: string): Int32Array
}

export function createIdentityReader(): IdentityReader {
  const bytes = Buffer.from(new ArrayBuffer(BYTES))
  const words = new Int32Array(bytes.buffer)
  let last = ''
  return {
    read(identity) {
      if (identity === last) return words
      last = ''
      if (identity.length !== DIGITS || bytes.write(identity, 'hex') !== BYTES) {
        throw new RangeError('an identity has 64 hexadecimal digits')
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

/** Hexadecimal digits at the start that both have; 64 if they are the same. */
export function commonDigits(words: Int32Array, at: number, identity: Int32Array): number {
  for (let i = 0; i < WORDS; i++) {
    const difference = words[at + i]! ^ identity[i]!
    if (difference === 0) continue
    // The first byte of a word is its lowest one, and the first digit of a byte its upper half.
    const byte = (31 - Math.clz32(difference & -difference)) >> 3
    return i * 8 + byte * 2 + (((difference >>> (byte * 8)) & 0xf0) === 0 ? 1 : 0)
  }
  return DIGITS
}

/** The digest of the eight words from `at` on. */
export function identityText(words: Int32Array, at: number): string {
  return Buffer.from(words.buffer, at * Int32Array.BYTES_PER_ELEMENT, BYTES).toString('hex')
}
