import type { TextSize } from '../../core/sessions/journal/changes.ts'
import { type Codec, sealedBytes, UnreadableError } from '../values/codec.ts'
import { WRITER_BYTES } from './session-arguments.ts'

/**
 * A change of a session as it is stored: layout version (1), writer (6), number of texts (2), of
 * each its hash (32) and bytes (4), the length of the key's id (1), that id, and the sealed change.
 * Numbers are little-endian. What comes before the sealed change is bound to it.
 */
const LAYOUT = 1
const WRITER_AT = 1
const TEXTS_AT = WRITER_AT + WRITER_BYTES
const HEAD_BYTES = TEXTS_AT + 2
const HASH_BYTES = 32
const SIZE_BYTES = 4
const TEXT_BYTES = HASH_BYTES + SIZE_BYTES

/** What a process did in a session. */
export interface ChangeValue {
  readonly bytes: Uint8Array
  readonly texts: readonly TextSize[]
}

/** @param writer the process, 12 hex digits */
export function sealChange(
  codec: Codec,
  { bytes, texts }: ChangeValue,
  writer: string,
  binding: Uint8Array,
): Buffer {
  const keyId = Buffer.from(codec.keyId ?? '')
  const keyAt = HEAD_BYTES + texts.length * TEXT_BYTES
  const head = Buffer.alloc(keyAt + 1 + keyId.byteLength)
  head[0] = LAYOUT
  head.write(writer, WRITER_AT, 'hex')
  head.writeUInt16LE(texts.length, TEXTS_AT)
  for (const [i, { identity, bytes: size }] of texts.entries()) {
    const at = HEAD_BYTES + i * TEXT_BYTES
    head.write(identity, at, 'hex')
    head.writeUInt32LE(size, at + HASH_BYTES)
  }
  head[keyAt] = keyId.byteLength
  keyId.copy(head, keyAt + 1)
  return Buffer.concat([head, codec.seal(bytes, Buffer.concat([binding, head]))])
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
  const sealedAt = keyAt + 1 + (value[keyAt] ?? 0)
  if (value.byteLength <= sealedAt) throw new UnreadableError(null)
  const texts = Array.from({ length: count }, (_, i) => {
    const at = HEAD_BYTES + i * TEXT_BYTES
    const end = at + HASH_BYTES
    return { identity: value.toString('hex', at, end), bytes: value.readUInt32LE(end) }
  })
  const id = value.toString('utf8', keyAt + 1, sealedAt)
  const keyId = id === '' ? null : id
  const head = value.subarray(0, sealedAt)
  const sealed = value.subarray(sealedAt)
  const bytes = codec.open(
    sealed,
    Buffer.concat([binding, head]),
    keyId,
    sealed.byteLength - sealedBytes(keyId),
  )
  return { writer: value.toString('hex', WRITER_AT, TEXTS_AT), bytes, texts }
}
