import type { Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib'
import { Guard } from './guard.ts'

/** Undoes the content coding of an answer that is read beside the one that is passed on. */
export interface AnswerDecoder {
  write(bytes: Uint8Array): void
  /** All that can be read of what was written was read. Never rejects. */
  finish(): Promise<void>
  /** Reads no more. */
  stop(): void
}

/**
 * Waiting to be decoded, in bytes; if the threads that decode do not keep up, the answer is not
 * read.
 */
const MAX_PENDING_BYTES = 1024 * 1024

/** Decoded at a time, in bytes. */
const CHUNK_BYTES = 64 * 1024

/** What a broken-off answer holds is read as well. */
const ZLIB = { chunkSize: CHUNK_BYTES, finishFlush: constants.Z_SYNC_FLUSH }
const BROTLI = { chunkSize: CHUNK_BYTES, finishFlush: constants.BROTLI_OPERATION_FLUSH }
/** A window of 8 MiB is the most that HTTP has (RFC 9659). */
const ZSTD = {
  chunkSize: CHUNK_BYTES,
  finishFlush: constants.ZSTD_e_flush,
  params: { [constants.ZSTD_d_windowLogMax]: 23 },
}

/**
 * By content coding; the first byte tells the two meanings of `deflate` apart (RFC 9110 §8.4.1.2).
 */
const DECODERS: Readonly<Record<string, (first: number) => Transform>> = {
  gzip: () => createGunzip(ZLIB),
  'x-gzip': () => createGunzip(ZLIB),
  deflate: first => ((first & 15) === 8 ? createInflate(ZLIB) : createInflateRaw(ZLIB)),
  br: () => createBrotliDecompress(BROTLI),
  zstd: () => createZstdDecompress(ZSTD),
}

/**
 * Decodes in Node's own threads, and passes on what is decoded in this one. A wrong coding ends
 * the reading.
 * @param coding the value of `Content-Encoding`, in lower case
 * @returns `null` for a coding that is not known, or several
 */
export function createAnswerDecoder(
  coding: string,
  read: (bytes: Uint8Array) => void,
): AnswerDecoder | null {
  const create = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined
  if (create === undefined) return null
  const closed = Promise.withResolvers<void>()
  let stream: Transform | null = null
  // As with any observer, what is missing shows in what it counted.
  const guard = new Guard(() => stream?.destroy())

  function open(first: number): Transform {
    const opened = (create as (first: number) => Transform)(first)
    guard.on(opened, 'data', read)
    // The close follows.
    guard.on(opened, 'error', () => undefined)
    guard.once(opened, 'close', () => closed.resolve())
    return opened
  }

  return {
    write(bytes) {
      if (bytes.length === 0) return
      stream ??= open(bytes[0] as number)
      if (stream.destroyed || stream.writableEnded) return
      stream.write(bytes)
      if (stream.writableLength > MAX_PENDING_BYTES) stream.destroy()
    },
    finish() {
      if (stream === null) return Promise.resolve()
      if (!stream.destroyed) stream.end()
      return closed.promise
    },
    stop: () => void stream?.destroy(),
  }
}
