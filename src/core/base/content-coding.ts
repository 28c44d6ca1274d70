import { constants } from 'node:zlib'
import {
  brotliCompressSync,
  brotliDecompressSync,
  deflateSync,
  gunzipSync,
  gzipSync,
  inflateRawSync,
  inflateSync,
  zstdCompressSync,
  zstdDecompressSync,
} from './zlib-calls.ts'

/** How the bytes of a body are compressed, by the names of HTTP (RFC 9110 §8.4.1). */
export type ContentCoding = 'gzip' | 'deflate' | 'br' | 'zstd'

/** At this level compressing is about as fast as writing the body. */
const GZIP_LEVEL = 1
const BROTLI_QUALITY = 3
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }
/** HTTP allows windows of at most 8 MiB (RFC 9659). */
const ZSTD_WINDOW = { params: { [constants.ZSTD_d_windowLogMax]: 23 } }

interface Codec {
  decode(bytes: Uint8Array, options: typeof DECODING & { maxOutputLength: number }): unknown
  encode(bytes: Uint8Array): Uint8Array
}

/** Asks for how many bytes were read, too. */
const DECODING = { info: true } as const

/** The result that Node returns with this option; its types do not have it. */
interface Decoded {
  readonly buffer: Uint8Array
  readonly engine: { readonly bytesWritten: number }
}

const CODECS: Readonly<Record<ContentCoding, Codec>> = {
  gzip: { decode: gunzipSync, encode: bytes => gzipSync(bytes, { level: GZIP_LEVEL }) },
  deflate: {
    // The first byte distinguishes the two meanings of `deflate` (RFC 9110 §8.4.1.2).
    decode: (bytes, options) => (isZlib(bytes) ? inflateSync : inflateRawSync)(bytes, options),
    encode: bytes => deflateSync(bytes, { level: GZIP_LEVEL }),
  },
  br: { decode: brotliDecompressSync, encode: bytes => brotliCompressSync(bytes, BROTLI) },
  zstd: {
    decode: (bytes, options) => zstdDecompressSync(bytes, { ...options, ...ZSTD_WINDOW }),
    encode: bytes => zstdCompressSync(bytes),
  },
}

function isZlib(bytes: Uint8Array): boolean {
  return ((bytes[0] ?? 0) & 15) === 8
}

/** The one coding that a `Content-Encoding` names; `null` for others, and for several. */
export function contentCodingOf(header: string): ContentCoding | null {
  const name = header.trim().toLowerCase()
  if (name === 'x-gzip') return 'gzip'
  return Object.hasOwn(CODECS, name) ? (name as ContentCoding) : null
}

/**
 * The body without its coding; `null` if it is not of that coding, breaks off, has bytes after its
 * end, or is above `maxBytes`.
 */
export function decodeBody(
  bytes: Uint8Array,
  coding: ContentCoding,
  maxBytes: number,
): Uint8Array | null {
  try {
    const options = { ...DECODING, maxOutputLength: maxBytes }
    const { buffer, engine } = CODECS[coding].decode(bytes, options) as Decoded
    // Bytes after the end would be ignored, and lost when the body is written again.
    return engine.bytesWritten === bytes.length ? buffer : null
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
}

/** The body in that coding. Equal bytes give equal bytes. */
export function encodeBody(bytes: Uint8Array, coding: ContentCoding): Uint8Array {
  return CODECS[coding].encode(bytes)
}
