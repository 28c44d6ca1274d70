import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

/** Bytes of a key for AES-256. */
export const SEALING_KEY_BYTES = 32

const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Seals texts that clients keep for us (AES-256-GCM). Each is bound to a purpose: it opens only for
 * that, and only unchanged.
 */
export class Seal {
  readonly #key: Uint8Array

  /** @param key 32 bytes */
  constructor(key: Uint8Array) {
    if (key.length !== SEALING_KEY_BYTES) throw new Error('a sealing key has 32 bytes')
    this.#key = key
  }

  /** @returns base64url, a random nonce in front */
  seal(purpose: readonly string[], secret: Uint8Array): string {
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv)
    cipher.setAAD(digestOf(purpose))
    const parts = [iv, cipher.update(secret), cipher.final(), cipher.getAuthTag()]
    return Buffer.concat(parts).toString('base64url')
  }

  /** @returns `null` for a text that was not sealed by this key and for this purpose */
  open(purpose: readonly string[], sealed: string): Buffer | null {
    const bytes = Buffer.from(sealed, 'base64url')
    // Base64 has spellings of the same bytes.
    if (bytes.toString('base64url') !== sealed || bytes.length < IV_BYTES + TAG_BYTES) return null
    const tagAt = bytes.length - TAG_BYTES
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, IV_BYTES), {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(digestOf(purpose))
    decipher.setAuthTag(bytes.subarray(tagAt))
    try {
      const secret = decipher.update(bytes.subarray(IV_BYTES, tagAt))
      return Buffer.concat([secret, decipher.final()])
    } catch {
      return null
    }
  }
}

function digestOf(purpose: readonly string[]): Uint8Array {
  return createHash('sha256').update(JSON.stringify(purpose)).digest()
}
