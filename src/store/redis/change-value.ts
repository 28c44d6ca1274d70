import type { TextSize } from '../../core/sessions/journal/changes.ts'
import { packChanges, unpackChanges } from '../../core/sessions/journal/packed-changes.ts'
import { type Codec, UnreadableError } from '../codec.ts'

/**
 * A change of a session as it is stored: layout version (1), writer (16), bytes of the change (4),
 * number of texts (2), of each its hash (32) and bytes (4), the length of the key's id (1), and
 * that id. If the length has the bit `PACKED`, the compressed change follows: its size (4), and its
 * sealed bytes. A process that does not know the bit reads an id that no key has. Else the sealed
 * change follows. Numbers are little-endian.
 */
const LAYOUT = 1
const PACKED = 128
const WRITER_AT = 1
export const WRITER_BYTES = 16
const SIZE_AT = WRITER_AT + WRITER_BYTES
const TEXTS_AT = SIZE_AT + 4
const HEAD_BYTES = TEXTS_AT + 2
const HASH_BYTES = 32
const SIZE_BYTES = 4
const TEXT_BYTES = HASH_BYTES + 4

/** What a process did in a session. */
export interface ChangeValue {
  readonly bytes: Uint8Array
  readonly texts: readonly TextSize[]
  /** The bytes as `packChanges` gives them, if they are packed already. */
  readonly packed?: Uint8Array
}

/** @param writer the process, 32 hex digits */
export function sealChange(
  codec: Codec,
  { bytes, texts, packed = packChanges(bytes) }: ChangeValue,
  writer: string,
  binding: Uint8Array,
): Buffer {
  const keyId = Buffer.from(codec.keyId ?? '')
  const head = Buffer.alloc(HEAD_BYTES + texts.length * TEXT_BYTES + 1)
  head[0] = LAYOUT
  head.write(writer, WRITER_AT, 'hex')
  head.writeUInt32LE(bytes.byteLength, SIZE_AT)
  head.writeUInt16LE(texts.length, TEXTS_AT)
  for (const [i, { identity, bytes: size }] of texts.entries()) {
    const at = HEAD_BYTES + i * TEXT_BYTES
    head.write(identity, at, 'hex')
    head.writeUInt32LE(size, at + HASH_BYTES)
  }
  head[head.length - 1] = keyId.byteLength | PACKED
  const size = Buffer.alloc(SIZE_BYTES)
  size.writeUInt32LE(packed.byteLength)
  return Buffer.concat([head, keyId, size, codec.seal(packed, binding)])
}

/** @throws UnreadableError for a damaged value, another layout, or a key that is not configured */
export function openChange(
  codec: Codec,
  value: Buffer,
  binding: Uint8Array,
): ChangeValue & { readonly writer: string } {
  if (!Buffer.isBuffer(value) || value.byteLength <= HEAD_BYTES || value[0] !== LAYOUT)
    throw new UnreadableError(null)
  const count = value.readUInt16LE(TEXTS_AT)
  const keyAt = HEAD_BYTES + count * TEXT_BYTES
  if (value.byteLength <= keyAt + 1) throw new UnreadableError(null)
  const texts = Array.from({ length: count }, (_, i) => {
    const at = HEAD_BYTES + i * TEXT_BYTES
    const end = at + HASH_BYTES
    return { identity: value.toString('hex', at, end), bytes: value.readUInt32LE(end) }
  })
  const isPacked = (value[keyAt]! & PACKED) !== 0
  const keyEnd = keyAt + 1 + (value[keyAt]! & ~PACKED)
  const sealedAt = isPacked ? keyEnd + SIZE_BYTES : keyEnd
  if (value.byteLength <= sealedAt) throw new UnreadableError(null)
  const keyId = value.toString('utf8', keyAt + 1, keyEnd)
  const bytes = value.readUInt32LE(SIZE_AT)
  const stored = isPacked ? value.readUInt32LE(keyEnd) : bytes
  const sealed = value.subarray(sealedAt)
  const opened = codec.open(sealed, binding, keyId === '' ? null : keyId, stored)
  const unpacked = isPacked ? unpackChanges(opened, bytes) : opened
  if (unpacked === null) throw new UnreadableError(null)
  return { writer: value.toString('hex', WRITER_AT, SIZE_AT), bytes: unpacked, texts }
}
