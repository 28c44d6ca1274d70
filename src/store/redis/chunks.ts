import { setImmediate as nextTurn } from 'node:timers/promises'
import { countLineFeeds, countLines } from '../../core/parts/lines.ts'
import { type Codec, decompressed, type Payload, UnreadableError } from '../values/codec.ts'
import type { BodyValue } from './layout.ts'

/**
 * Bodies of more bytes are cut into chunks, each sealed by itself and kept under a key of its own,
 * so that no value is large and a part is read without the rest.
 */
export const CHUNK_BYTES = 64 * 1024

/** How long chunks wait for the put that makes them a body. */
export const STAGED_MS = 60_000

/** What a sealed part of a body is bound to, so that it is valid nowhere else. */
export interface Owner {
  /** The tenant's root; bound instead of its name, which Redis does not have. */
  readonly root: string
  readonly hash: Uint8Array
  readonly mediaType: string
}

/** The number of the whole of a small body, and of the table of lines of a large one. */
const WHOLE = 0xffffffff

/** A body as it is sent to Redis. */
export interface SealedBody {
  /** The whole of a small body, else the table of lines. */
  readonly sealed: Uint8Array
  /** None for a small body. */
  readonly chunks: readonly Uint8Array[]
}

export function chunkCount(bytes: number): number {
  return bytes <= CHUNK_BYTES ? 0 : Math.ceil(bytes / CHUNK_BYTES)
}

/** @param smaller see `Codec.seal` */
export function sealSmall(
  codec: Codec,
  body: Uint8Array,
  owner: Owner,
  smaller: Uint8Array | undefined,
): SealedBody {
  return { sealed: codec.seal(body, binding(owner, WHOLE, 0), smaller), chunks: [] }
}

/** Seals chunk by chunk, and lets other work continue between two of them. */
export async function sealLarge(codec: Codec, body: Uint8Array, owner: Owner): Promise<SealedBody> {
  const count = chunkCount(body.byteLength)
  const table = new Uint32Array(count + 1)
  const chunks: Uint8Array[] = []
  let line = 1
  for (let number = 0; number < count; number++) {
    const raw = body.subarray(number * CHUNK_BYTES, (number + 1) * CHUNK_BYTES)
    table[number] = line
    chunks.push(codec.seal(raw, binding(owner, number, count)))
    line += countLineFeeds(raw)
    await nextTurn()
  }
  const last = body.subarray((count - 1) * CHUNK_BYTES)
  table[count] = table[count - 1]! - 1 + countLines(last)
  const bytes = new Uint8Array(table.buffer)
  return { sealed: codec.seal(bytes, binding(owner, WHOLE, count)), chunks }
}

/** The content of a small body. @throws UnreadableError */
export function openSmall(codec: Codec, body: BodyValue, root: string): Uint8Array<ArrayBuffer> {
  const content = codec.open(
    body.sealed,
    binding({ ...body, root }, WHOLE, 0),
    body.keyId,
    body.bytes,
  )
  return new Uint8Array(content)
}

/** @throws UnreadableError */
export function openChunk(
  codec: Codec,
  body: BodyValue,
  root: string,
  number: number,
  sealed: Uint8Array,
) {
  const bytes = Math.min(CHUNK_BYTES, body.bytes - number * CHUNK_BYTES)
  return decompressed(unsealChunk(codec, body, root, number, sealed), bytes)
}

/** A chunk without its seal, not decompressed. @throws UnreadableError */
export function unsealChunk(
  codec: Codec,
  body: BodyValue,
  root: string,
  number: number,
  sealed: Uint8Array,
): Payload {
  if (body.chunks !== chunkCount(body.bytes)) throw new UnreadableError(null)
  return codec.unseal(sealed, binding({ ...body, root }, number, body.chunks), body.keyId)
}

/** Where lines are in a large body. */
export interface LineTable {
  readonly total: number
  /** The line that the first byte of a chunk is in. */
  firstOf(chunk: number): number
  /** The last chunk whose first byte lies in a line up to `line`, and that line. */
  at(line: number): { readonly chunk: number; readonly line: number }
}

/** @throws UnreadableError */
export function openLineTable(codec: Codec, body: BodyValue, root: string): LineTable {
  const size = (body.chunks + 1) * Uint32Array.BYTES_PER_ELEMENT
  const bytes = codec.open(
    body.sealed,
    binding({ ...body, root }, WHOLE, body.chunks),
    body.keyId,
    size,
  )
  const table = new Uint32Array(new Uint8Array(bytes).buffer)
  return {
    total: table[body.chunks]!,
    firstOf: chunk => table[chunk]!,
    at(line) {
      let low = 0
      let high = body.chunks - 1
      while (low < high) {
        const middle = Math.ceil((low + high) / 2)
        if (table[middle]! <= line) low = middle
        else high = middle - 1
      }
      return { chunk: low, line: table[low]! }
    },
  }
}

function binding({ root, hash, mediaType }: Owner, number: number, count: number): Uint8Array {
  const place = Buffer.alloc(8)
  place.writeUInt32LE(number, 0)
  place.writeUInt32LE(count, 4)
  return Buffer.concat([place, hash, Buffer.from(`${root} ${mediaType}`)])
}
