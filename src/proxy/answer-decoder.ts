import type { Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib'

/** Decoded at a time, in bytes. */
const CHUNK_BYTES = 64 * 1024

/** An answer that broke off is read as far as it goes. */
const ZLIB = { chunkSize: CHUNK_BYTES, finishFlush: constants.Z_SYNC_FLUSH }
const BROTLI = { chunkSize: CHUNK_BYTES, finishFlush: constants.BROTLI_OPERATION_FLUSH }
/** HTTP allows windows of at most 8 MiB (RFC 9659). */
const ZSTD = {
  chunkSize: CHUNK_BYTES,
  finishFlush: constants.ZSTD_e_flush,
  params: { [constants.ZSTD_d_windowLogMax]: 23 },
}

/**
 * By content coding. The first byte shows which `deflate` is meant (RFC 9110 §8.4.1.2).
 */
export const DECODERS: Readonly<Record<string, (first: number) => Transform>> = {
  gzip: () => createGunzip(ZLIB),
  'x-gzip': () => createGunzip(ZLIB),
  deflate: first => ((first & 15) === 8 ? createInflate(ZLIB) : createInflateRaw(ZLIB)),
  br: () => createBrotliDecompress(BROTLI),
  zstd: () => createZstdDecompress(ZSTD),
}

/** Decodes an answer by its content coding; `null` for a coding that is not known. */
export function decoderOf(coding: string): Transform | null {
  const create = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined
  // The first byte of a zlib stream, which HTTP means by `deflate`.
  return create?.(ZLIB_HEAD) ?? null
}

const ZLIB_HEAD = 0x78
