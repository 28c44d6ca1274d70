import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { gunzipSync, zstdDecompressSync } from '../../core/base/zlib-calls.ts'

const CHUNK_BYTES = 1024 * 1024

/** A log that cannot be read, or not to its end. */
export class UnreadableLog extends Error {}

/**
 * The content of a file, piece by piece; of a compressed file, as one piece.
 * @throws UnreadableLog
 */
export function* chunksOf(path: string): Generator<Buffer> {
  if (isCompressed(path)) {
    const bytes = attempt(() => readFileSync(path))
    yield attempt(() => decompress(path, bytes))
    return
  }
  const file = attempt(() => openSync(path, 'r'))
  try {
    for (;;) {
      // A new one each time: a line's first part may be kept of it.
      const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
      const chunk = buffer.subarray(
        0,
        attempt(() => readSync(file, buffer)),
      )
      if (chunk.length === 0) return
      yield chunk
    }
  } finally {
    closeSync(file)
  }
}

function attempt<Result>(run: () => Result): Result {
  try {
    return run()
  } catch (cause) {
    throw new UnreadableLog('a log cannot be read', { cause })
  }
}

const DECOMPRESSORS = { '.zst': zstdDecompressSync, '.gz': gunzipSync } as const
const SUFFIXES = ['.zst', '.gz'] as const
/**
 * Larger logs are not unpacked, because a log is unpacked in one piece, and a small file may unpack
 * to any size.
 */
const MAX_BYTES = 512 * 1024 * 1024

/**
 * Whether a file of this name is compressed; Codex does that with rollouts that were not used for
 * some days.
 */
export function isCompressed(name: string): boolean {
  return SUFFIXES.some(suffix => name.endsWith(suffix))
}

/** The name without the suffix of the compression. */
export function plainName(name: string): string {
  const suffix = SUFFIXES.find(each => name.endsWith(each))
  return suffix === undefined ? name : name.slice(0, -suffix.length)
}

/**
 * The decompressed bytes. @param name of the file, whose suffix names the compression @throws Error
 * if the bytes are not of that kind, are torn, or hold more than 512 MiB
 */
function decompress(name: string, bytes: Uint8Array): Buffer {
  const suffix = SUFFIXES.find(each => name.endsWith(each))!
  return DECOMPRESSORS[suffix](bytes, { maxOutputLength: MAX_BYTES })
}
