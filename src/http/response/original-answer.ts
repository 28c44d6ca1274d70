import { TEXT_TYPES, type TextBytes, toText } from '../../core/base/text-bytes.ts'
import { type MediaType, writeEnvelope } from '../../core/contract/envelope.ts'
import { msgpack } from '../../core/contract/msgpack.ts'

/** Up to here an answer is written in one piece, which takes under 200 µs. */
const PIECE_BYTES = 64 * 1024

/** An answer's media type, and its bytes, or the stream that they come in. */
export interface WrittenAnswer {
  readonly media: MediaType
  readonly body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>
}

/**
 * Writes `fields` and the text as `original_content`. A long text is written in pieces, so that the
 * event loop turns in between; a client that reads slowly slows them down.
 */
export function writeOriginal(fields: object, text: TextBytes, accept: MediaType): WrittenAnswer {
  if (text.bytes.length <= PIECE_BYTES) {
    const { media, bytes } = writeEnvelope({ ...fields, original_content: toText(text) }, accept)
    return { media, body: bytes as Uint8Array<ArrayBuffer> }
  }
  // MessagePack strings are UTF-8.
  return accept === 'msgpack' && text.media_type !== TEXT_TYPES.wtf8
    ? { media: 'msgpack', body: streamed(msgpackPieces(fields, text.bytes)) }
    : { media: 'json', body: streamed(jsonPieces(fields, text)) }
}

function* jsonPieces(fields: object, { bytes, media_type }: TextBytes): Generator<Uint8Array> {
  const encoder = new TextEncoder()
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  yield encoder.encode(`${JSON.stringify(fields).slice(0, -1)},"original_content":"`)
  for (let at = 0; at < bytes.length; ) {
    const end = pieceEnd(bytes, at)
    const piece = bytes.subarray(at, end)
    at = end
    const characters =
      media_type === TEXT_TYPES.wtf8 ? toText({ bytes: piece, media_type }) : decoder.decode(piece)
    yield encoder.encode(JSON.stringify(characters).slice(1, -1))
  }
  yield encoder.encode('"}')
}

/** Where a piece ends that begins at `at`: in front of the first byte of a character. */
function pieceEnd(bytes: Uint8Array, at: number): number {
  let end = at + PIECE_BYTES
  while (end < bytes.length && ((bytes[end] as number) & 0xc0) === 0x80) end++
  return Math.min(end, bytes.length)
}

/**
 * A map with one entry more than `fields`: MessagePack strings are the very bytes after their
 * length.
 */
function* msgpackPieces(fields: object, bytes: Uint8Array): Generator<Uint8Array> {
  const packed = msgpack().packr.pack({ ...fields, original_content: '' })
  const length = Buffer.alloc(5)
  length[0] = STR_32
  length.writeUInt32BE(bytes.length, 1)
  // The last byte is the empty string's, which the text replaces.
  yield Uint8Array.from(packed.subarray(0, -1))
  yield length
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    yield bytes.subarray(at, at + PIECE_BYTES)
  }
}

/** MessagePack: a string whose length is the next 32 bits. */
const STR_32 = 0xdb

function streamed(pieces: Generator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      // A turn of the event loop for each piece.
      await new Promise(resolve => setImmediate(resolve))
      const { done, value } = pieces.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
  })
}
