import { zstdCompressSync, zstdDecompressSync } from '../base/zlib-calls.ts'

/** What lines of our own unpack to, at most: far above the most rows that a record has. */
const MAX_BYTES = 256 * 1024 * 1024

/** Values as lines of JSON, compressed. */
export function writeLines(values: readonly unknown[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(zstdCompressSync(values.map(value => JSON.stringify(value)).join('\n')))
}

/** The values again. @throws Error if the bytes are others */
export function readLines(bytes: Uint8Array): unknown[] {
  return linesOf(bytes).map(line => JSON.parse(line))
}

/** The lines as texts. @throws Error if the bytes are others */
export function linesOf(bytes: Uint8Array): readonly string[] {
  const text = zstdDecompressSync(bytes, { maxOutputLength: MAX_BYTES }).toString()
  return text === '' ? [] : text.split('\n')
}
