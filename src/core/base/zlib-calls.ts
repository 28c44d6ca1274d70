import * as zlib from 'node:zlib'
import { constants } from 'node:zlib'
import { unbroken } from './unbroken.ts'

/**
 * Node's zlib for code that may run in a thread which is terminated. Each call is unbroken work,
 * and takes a bounded time, since all of its input is there and its output is bounded. Streams
 * would have to be made in unbroken work too: they make their object and set it up in one call.
 */
function unbrokenCall<Args extends unknown[], Result>(
  call: (...args: Args) => Result,
): (...args: Args) => Result {
  return (...args) => unbroken(() => call(...args))
}

export const brotliCompressSync = unbrokenCall(zlib.brotliCompressSync)
export const brotliDecompressSync = unbrokenCall(zlib.brotliDecompressSync)
export const deflateRawSync = unbrokenCall(zlib.deflateRawSync)
export const deflateSync = unbrokenCall(zlib.deflateSync)
export const gunzipSync = unbrokenCall(zlib.gunzipSync)
export const gzipSync = unbrokenCall(zlib.gzipSync)
export const inflateRawSync = unbrokenCall(zlib.inflateRawSync)
export const inflateSync = unbrokenCall(zlib.inflateSync)
export const zstdCompressSync = unbrokenCall(zlib.zstdCompressSync)
export const zstdDecompressSync = unbrokenCall(zlib.zstdDecompressSync)

/** The fastest level: levels up to 3 take twice the time for a tenth. */
const ZSTD_LEVEL = 1

/** Bytes by zstd, as stores keep them; `undefined` if they do not become smaller. */
export function compressed(raw: Uint8Array): Uint8Array | undefined {
  const params = { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL }
  const smaller = zstdCompressSync(raw, { params })
  return smaller.byteLength < raw.byteLength ? smaller : undefined
}
