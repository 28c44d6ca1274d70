import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { LINE_FEED } from '../../core/json/char-codes.ts'

/** Cuts a stream of bytes into lines. A line may not exceed its bound. */
export class LineReader {
  readonly #maxBytes: number
  #parts: JsonBytes[] = []
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /**
   * @param onLine called with every complete line that is not empty, without its line feed
   * @returns `false` if a line exceeds the bound; nothing can be read any more
   */
  push(chunk: JsonBytes, onLine: (line: JsonBytes) => void): boolean {
    let start = 0
    while (start < chunk.length) {
      const end = chunk[start] === LINE_FEED ? start : chunk.indexOf(LINE_FEED, start)
      if (end === -1) return this.#add(chunk.subarray(start))
      if (end > start && !this.#add(chunk.subarray(start, end))) return false
      if (this.#parts.length > 0) onLine(this.#take())
      start = end + 1
    }
    return true
  }

  #add(part: JsonBytes): boolean {
    this.#bytes += part.length
    if (this.#bytes > this.#maxBytes) {
      this.#parts = []
      return false
    }
    this.#parts.push(part)
    return true
  }

  #take(): JsonBytes {
    const [first] = this.#parts
    const line = this.#parts.length === 1 ? (first as JsonBytes) : Buffer.concat(this.#parts)
    this.#parts = []
    this.#bytes = 0
    return line
  }
}
