import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { compressed, zstdDecompressSync } from '../../core/base/zlib-calls.ts'

/**
 * The layout of stored bytes. The first byte has the flags. Plain: CRC-32 (4 bytes, little
 * endian, over the binding and the payload), payload. Encrypted: nonce (12), tag (16), ciphertext;
 * the binding is the additional data. The binding names the owner and the place of the bytes, so
 * that other bytes cannot replace them.
 */
const ZSTD = 1
const ENCRYPTED = 2

const CRC_BYTES = 4
const NONCE_BYTES = 12
const TAG_BYTES = 16
const CIPHER = 'aes-256-gcm'
/** Bytes that are decompressed at once; zlib takes no fewer. */
const LEAST_STEP_BYTES = 64
const MOST_STEP_BYTES = 1024 * 1024

/** Stored bytes that cannot be restored. */
export class UnreadableError extends Error {
  /** The id of the key that is not configured; `null`: damaged. */
  readonly missingKey: string | null

  constructor(missingKey: string | null) {
    super(missingKey === null ? 'damaged' : `no key ${missingKey}`)
    this.name = 'UnreadableError'
    this.missingKey = missingKey
  }
}

export interface StoreKey {
  /** Kept beside what it encrypts; up to 64 characters. */
  readonly id: string
  /** 32 bytes. */
  readonly key: Uint8Array
}

export interface Codec {
  /** The key that writes, `null` if nothing is encrypted. */
  readonly keyId: string | null
  /** @param smaller the raw bytes as `compressed` gives them, if the caller has that already */
  seal(raw: Uint8Array, binding: Uint8Array, smaller?: Uint8Array): Uint8Array
  /** The raw bytes, `bytes` long. @throws UnreadableError */
  open(sealed: Uint8Array, binding: Uint8Array, keyId: string | null, bytes: number): Uint8Array
  /**
   * What was sealed, still compressed if it was, after a check by checksum or tag. @throws
   * UnreadableError
   */
  unseal(sealed: Uint8Array, binding: Uint8Array, keyId: string | null): Payload
}

/** Raw bytes, or what `compressed` made of them. */
export interface Payload {
  readonly bytes: Uint8Array
  readonly isCompressed: boolean
}

export interface CodecOptions {
  readonly keys: readonly StoreKey[]
  /**
   * What is not encrypted counts as damaged if there are keys: others may write to the store, and a
   * checksum is no proof.
   */
  readonly refusesPlain?: boolean
  readonly compressFromBytes: number | null
}

/** How many bytes more than its payload something sealed has. */
export function sealedBytes(keyId: string | null): number {
  return 1 + (keyId === null ? CRC_BYTES : NONCE_BYTES + TAG_BYTES)
}

export function createCodec({ keys, refusesPlain, compressFromBytes }: CodecOptions): Codec {
  const byId = new Map(keys.map(({ id, key }) => [id, key]))
  const writing = keys[0]

  function unseal(sealed: Uint8Array, binding: Uint8Array, keyId: string | null): Payload {
    const flags = sealed[0] ?? 0
    // An encrypted body must not be replaced by a plain one.
    if ((flags & ENCRYPTED) !== (keyId === null ? 0 : ENCRYPTED)) throw new UnreadableError(null)
    if (refusesPlain === true && keyId === null && keys.length > 0) throw new UnreadableError(null)
    const bytes =
      keyId === null
        ? checked(flags, sealed, binding)
        : decrypted(flags, sealed, binding, keyOf(byId, keyId))
    return { bytes, isCompressed: (flags & ZSTD) !== 0 }
  }

  function compressedFrom(raw: Uint8Array): Uint8Array | undefined {
    if (compressFromBytes === null || raw.byteLength < compressFromBytes) return undefined
    return compressed(raw)
  }

  return {
    keyId: writing?.id ?? null,
    seal(raw, binding, smaller = compressedFrom(raw)) {
      const payload = smaller ?? raw
      const flags = (smaller === undefined ? 0 : ZSTD) | (writing === undefined ? 0 : ENCRYPTED)
      return writing === undefined
        ? checksummed(flags, payload, binding)
        : encrypted(flags, payload, binding, writing.key)
    },
    open: (sealed, binding, keyId, bytes) => decompressed(unseal(sealed, binding, keyId), bytes),
    unseal,
  }
}

function keyOf(keys: ReadonlyMap<string, Uint8Array>, id: string): Uint8Array {
  const key = keys.get(id)
  if (key === undefined) throw new UnreadableError(id)
  return key
}

/** @throws UnreadableError for a content that has not this SHA-256: it is another one */
export function checkHash(content: Uint8Array, expected: Uint8Array): void {
  if (Buffer.compare(hash('sha256', content, 'buffer'), expected) !== 0)
    throw new UnreadableError(null)
}

/** The raw bytes of a payload, `bytes` long. @throws UnreadableError */
export function decompressed({ bytes: payload, isCompressed }: Payload, bytes: number): Uint8Array {
  const raw = isCompressed ? byZstd(payload, bytes) : payload
  if (raw.byteLength !== bytes) throw new UnreadableError(null)
  return raw
}

function byZstd(payload: Uint8Array, bytes: number): Uint8Array {
  try {
    return zstdDecompressSync(payload, {
      maxOutputLength: Math.max(1, bytes),
      // All of a chunk at once, which takes a third less time. A damaged size must not be trusted.
      chunkSize: Math.max(LEAST_STEP_BYTES, Math.min(bytes + LEAST_STEP_BYTES, MOST_STEP_BYTES)),
    })
  } catch {
    throw new UnreadableError(null)
  }
}

function checksummed(flags: number, payload: Uint8Array, binding: Uint8Array): Uint8Array {
  const sealed = Buffer.allocUnsafe(1 + CRC_BYTES + payload.byteLength)
  sealed[0] = flags
  sealed.writeUInt32LE(checksum(flags, payload, binding), 1)
  sealed.set(payload, 1 + CRC_BYTES)
  return sealed
}

function checked(flags: number, sealed: Uint8Array, binding: Uint8Array): Uint8Array {
  const payload = sealed.subarray(1 + CRC_BYTES)
  const found = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
  if (sealed.byteLength < 1 + CRC_BYTES) throw new UnreadableError(null)
  if (found.readUInt32LE(1) !== checksum(flags, payload, binding)) throw new UnreadableError(null)
  return payload
}

function checksum(flags: number, payload: Uint8Array, binding: Uint8Array): number {
  return crc32(payload, crc32(binding, flags))
}

function encrypted(
  flags: number,
  payload: Uint8Array,
  binding: Uint8Array,
  key: Uint8Array,
): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce)
  cipher.setAAD(Buffer.concat([[flags], binding].map(part => Buffer.from(part))))
  const text = cipher.update(payload)
  cipher.final()
  return Buffer.concat([Buffer.of(flags), nonce, cipher.getAuthTag(), text])
}

function decrypted(
  flags: number,
  sealed: Uint8Array,
  binding: Uint8Array,
  key: Uint8Array,
): Uint8Array {
  const text = 1 + NONCE_BYTES + TAG_BYTES
  if (sealed.byteLength < text) throw new UnreadableError(null)
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(1, 1 + NONCE_BYTES))
  decipher.setAAD(Buffer.concat([[flags], binding].map(part => Buffer.from(part))))
  decipher.setAuthTag(sealed.subarray(1 + NONCE_BYTES, text))
  try {
    const raw = decipher.update(sealed.subarray(text))
    decipher.final()
    return raw
  } catch {
    throw new UnreadableError(null)
  }
}
