import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { decompress, isCompressed } from './compressed.ts'

const CHUNK_BYTES = 1024 * 1024

/** A log that cannot be read, or not to its end. */
export class UnreadableLog extends Error {}

/**
 * What is in a file, piece by piece; what is compressed, at once.
 * @param onRead called with the bytes of the file that were read since the last call
 * @throws UnreadableLog
 */
export function* chunksOf(path: string, onRead?: (bytes: number) => void): Generator<Buffer> {
  if (isCompressed(path)) {
    yield unpacked(path, onRead)
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
      onRead?.(chunk.length)
      yield chunk
    }
  } finally {
    closeSync(file)
  }
}

function unpacked(path: string, onRead?: (bytes: number) => void): Buffer {
  const bytes = attempt(() => readFileSync(path))
  const chunk = attempt(() => decompress(path, bytes))
  onRead?.(bytes.length)
  return chunk
}

function attempt<Result>(run: () => Result): Result {
  try {
    return run()
  } catch (cause) {
    throw new UnreadableLog('a log cannot be read', { cause })
  }
}
