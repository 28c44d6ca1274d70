import { gunzipSync, zstdDecompressSync } from 'node:zlib'

const DECOMPRESSORS = { '.zst': zstdDecompressSync, '.gz': gunzipSync } as const
const SUFFIXES = ['.zst', '.gz'] as const
/**
 * More is not unpacked: a log is unpacked at once, and a small file may pretend to hold the world.
 */
const MAX_BYTES = 512 * 1024 * 1024

/**
 * Whether a file of this name is compressed; Codex does that with rollouts that were not used for
 * some days.
 */
export function isCompressed(name: string): boolean {
  return SUFFIXES.some(suffix => name.endsWith(suffix))
}

/** The name without what compressing it added. */
export function plainName(name: string): string {
  const suffix = SUFFIXES.find(each => name.endsWith(each))
  return suffix === undefined ? name : name.slice(0, -suffix.length)
}

/**
 * What was compressed.
 * @param name of the file, whose end names the compression
 * @throws Error if the bytes are none of that kind, are torn, or hold more than 512 MiB
 */
export function decompress(name: string, bytes: Uint8Array): Buffer {
  const suffix = SUFFIXES.find(each => name.endsWith(each))!
  return DECOMPRESSORS[suffix](bytes, { maxOutputLength: MAX_BYTES })
}
