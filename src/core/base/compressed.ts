import { constants } from 'node:zlib'
import { zstdCompressSync } from './zlib-calls.ts'

/** The fastest level: levels up to 3 take twice the time for a tenth. */
const ZSTD_LEVEL = 1

/** Bytes by zstd, as stores keep them; `undefined` if they do not become smaller. */
export function compressed(raw: Uint8Array): Uint8Array | undefined {
  const params = { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL }
  const smaller = zstdCompressSync(raw, { params })
  return smaller.byteLength < raw.byteLength ? smaller : undefined
}
