import { checkHash, decompressed, type Payload } from '../values/codec.ts'

/**
 * All chunks of a body, checked and still compressed, concatenated in a buffer of their own. Before
 * each chunk are its length and whether it is compressed. The thread that cuts parts decompresses
 * it, so the thread that all calls go through does not.
 */
export interface PackedBody {
  readonly packed: Uint8Array<ArrayBuffer>
  /** Bytes of the content. */
  readonly bytes: number
  /** Bytes of each chunk of the content but the last. */
  readonly chunkBytes: number
  /** SHA-256 that the content must have, if another process may have replaced it. */
  readonly hash?: Uint8Array
}

const HEAD_BYTES = 4
/** The rest of a head is the length of the chunk. */
const COMPRESSED = 2 ** 31

export function packChunks(chunks: readonly Payload[]): Uint8Array<ArrayBuffer> {
  const total = chunks.reduce((sum, { bytes }) => sum + HEAD_BYTES + bytes.byteLength, 0)
  const packed = new Uint8Array(total)
  const view = new DataView(packed.buffer)
  let at = 0
  for (const { bytes, isCompressed } of chunks) {
    view.setUint32(at, bytes.byteLength + (isCompressed ? COMPRESSED : 0), true)
    packed.set(bytes, at + HEAD_BYTES)
    at += HEAD_BYTES + bytes.byteLength
  }
  return packed
}

/** The content of a body. @throws UnreadableError if the chunks are not those of such a body */
export function unpackBody({
  packed,
  bytes,
  chunkBytes,
  hash,
}: PackedBody): Uint8Array<ArrayBuffer> {
  const view = new DataView(packed.buffer)
  const body = new Uint8Array(bytes)
  let from = 0
  for (let at = 0; at < bytes; at += chunkBytes) {
    const head = view.getUint32(from, true)
    const isCompressed = head >= COMPRESSED
    const start = from + HEAD_BYTES
    from = start + (isCompressed ? head - COMPRESSED : head)
    const payload = { bytes: packed.subarray(start, from), isCompressed }
    body.set(decompressed(payload, Math.min(chunkBytes, bytes - at)), at)
  }
  if (hash !== undefined) checkHash(body, hash)
  return body
}
