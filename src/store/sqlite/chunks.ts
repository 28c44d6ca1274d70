import type { DatabaseSync } from 'node:sqlite'
import { countLineFeeds } from '../../core/parts/lines.ts'
import { type PackedBody, packChunks } from '../parts/packed-body.ts'
import { type Codec, type Payload, UnreadableError } from '../values/codec.ts'

/**
 * Bodies are cut into chunks, each sealed by itself, so that a part of a large body is read without
 * the rest. Larger chunks compress a little better; smaller chunks make reading parts cheaper.
 */
export const CHUNK_BYTES = 64 * 1024

/** Chunk ids of one body; bounds a body to 256 MiB. */
const IDS_A_BODY = 4096

/** Up to this number chunks are read without checking first whether the last one exists. */
const TRUSTED_CHUNKS = 16

/** Whose chunks; bound into each of them. */
export interface ChunkOwner {
  readonly id: number
  readonly tenantName: string
  readonly hash: Uint8Array
  readonly bytes: number
  readonly keyId: string | null
}

export interface SealedChunk {
  readonly line: number
  readonly data: Uint8Array
}

export interface Chunks {
  /** Cuts and seals; the number of the body is not needed for it. */
  seal(body: Uint8Array, owner: Pick<ChunkOwner, 'tenantName' | 'hash'>): readonly SealedChunk[]
  write(body: number, chunks: readonly SealedChunk[]): void
  /**
   * Chunks `first` to `last`, opened and concatenated in a buffer of their own. @throws
   * UnreadableError
   */
  read(owner: ChunkOwner, first: number, last: number): Uint8Array<ArrayBuffer>
  /** All of a body. @throws UnreadableError */
  readAll(owner: ChunkOwner): Uint8Array<ArrayBuffer>
  /** All of a body, checked and not decompressed. @throws UnreadableError */
  readPacked(owner: ChunkOwner): PackedBody
  /** Reads all and checks it, without decompressing. @throws UnreadableError */
  check(owner: ChunkOwner): void
  /** The number of the last chunk of a body that is not empty. */
  last(owner: ChunkOwner): number
  /** The line of a chunk's first byte, as the file has it. @throws UnreadableError */
  lineAt(owner: ChunkOwner, chunk: number): number
  /** The last chunk whose first byte lies in a line up to `line`; 0 if none. With that line. */
  atLine(owner: ChunkOwner, line: number): { readonly chunk: number; readonly line: number }
  remove(body: number): void
}

/** Chunks of a body of so many bytes; an empty body has none. */
function chunkCount(bytes: number): number {
  return Math.ceil(bytes / CHUNK_BYTES)
}

/** @throws UnreadableError for a size that no body has */
function checkedCount({ bytes }: Pick<ChunkOwner, 'bytes'>): number {
  const count = chunkCount(bytes)
  if (!(bytes >= 0 && count <= IDS_A_BODY)) throw new UnreadableError(null)
  return count
}

export function createChunks(database: DatabaseSync, codec: Codec): Chunks {
  const insert = database.prepare('INSERT INTO chunk (id, line, data) VALUES (?, ?, ?)')
  const select = database.prepare('SELECT id, data FROM chunk WHERE id BETWEEN ? AND ? ORDER BY id')
  const lineOf = database.prepare('SELECT line FROM chunk WHERE id = ?')
  const erase = database.prepare('DELETE FROM chunk WHERE id BETWEEN ? AND ?')

  const lineAt = (owner: ChunkOwner, chunk: number) => {
    const row = lineOf.get(owner.id * IDS_A_BODY + chunk)
    if (row === undefined) throw new UnreadableError(null)
    return Number(row['line'])
  }

  /** Returns the chunks `first` to `last` as they are in the file. @throws UnreadableError */
  function* sealedOf(owner: ChunkOwner, first: number, last: number) {
    const id = owner.id * IDS_A_BODY
    let number = first
    for (const row of select.iterate(id + first, id + last)) {
      if (Number(row['id']) !== id + number) throw new UnreadableError(null)
      yield { number, data: row['data'] as Uint8Array }
      number++
    }
    if (number !== last + 1) throw new UnreadableError(null)
  }

  /** Returns all chunks without their seals. @throws UnreadableError */
  function* payloadsOf(owner: ChunkOwner): Generator<Payload> {
    const count = checkedCount(owner)
    for (const { number, data } of sealedOf(owner, 0, count - 1)) {
      yield codec.unseal(data, binding(owner, number, count), owner.keyId)
    }
  }

  function read(owner: ChunkOwner, first: number, last: number): Uint8Array<ArrayBuffer> {
    const count = checkedCount(owner)
    // A damaged size must not be trusted: no memory is allocated for chunks that do not exist.
    if (last - first >= TRUSTED_CHUNKS) lineAt(owner, last)
    const start = first * CHUNK_BYTES
    const end = Math.min(owner.bytes, (last + 1) * CHUNK_BYTES)
    const out = new Uint8Array(end - start)
    for (const { number, data } of sealedOf(owner, first, last)) {
      const at = number * CHUNK_BYTES
      const bytes = Math.min(CHUNK_BYTES, owner.bytes - at)
      out.set(codec.open(data, binding(owner, number, count), owner.keyId, bytes), at - start)
    }
    return out
  }

  return {
    seal(body, owner) {
      const count = chunkCount(body.byteLength)
      const sealed: SealedChunk[] = []
      let line = 1
      for (let number = 0; number < count; number++) {
        const raw = body.subarray(number * CHUNK_BYTES, (number + 1) * CHUNK_BYTES)
        sealed.push({ line, data: codec.seal(raw, binding(owner, number, count)) })
        line += countLineFeeds(raw)
      }
      return sealed
    },
    write(body, chunks) {
      for (const [number, { line, data }] of chunks.entries()) {
        insert.run(body * IDS_A_BODY + number, line, data)
      }
    },
    read,
    readAll: owner => read(owner, 0, chunkCount(owner.bytes) - 1),
    readPacked(owner) {
      const packed = packChunks([...payloadsOf(owner)])
      return { packed, bytes: owner.bytes, chunkBytes: CHUNK_BYTES }
    },
    check(owner) {
      for (const _ of payloadsOf(owner));
    },
    last: owner => chunkCount(owner.bytes) - 1,
    lineAt,
    atLine(owner, line) {
      let low = 0
      let high = chunkCount(owner.bytes) - 1
      while (low < high) {
        const middle = Math.ceil((low + high) / 2)
        if (lineAt(owner, middle) <= line) low = middle
        else high = middle - 1
      }
      return { chunk: low, line: lineAt(owner, low) }
    },
    remove(body) {
      erase.run(body * IDS_A_BODY, body * IDS_A_BODY + IDS_A_BODY - 1)
    },
  }
}

/** Body, place in it, number of places and tenant, so that a chunk is valid nowhere else. */
function binding(
  { tenantName, hash }: Pick<ChunkOwner, 'tenantName' | 'hash'>,
  number: number,
  count: number,
): Uint8Array {
  const place = Buffer.alloc(8)
  place.writeUInt32LE(number, 0)
  place.writeUInt32LE(count, 4)
  return Buffer.concat([place, hash, Buffer.from(tenantName)])
}
