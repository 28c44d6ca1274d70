import { GrownBytes } from '../../core/base/grown-bytes.ts'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { CARRIAGE_RETURN, LINE_FEED, SPACE } from '../../core/json/char-codes.ts'

/** Cuts a stream of bytes into lines. A line may not exceed its bound. */
export class LineReader {
  readonly #maxBytes: number
  /** The first parts of a line whose end has not come. */
  readonly #begun: GrownBytes

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
    this.#begun = new GrownBytes(maxBytes)
  }

  /**
   * @param onLine called with every complete line that is not empty, without its line feed
   * @returns `false` if a line exceeds the bound; nothing can be read any more
   */
  push(chunk: JsonBytes, onLine: (line: JsonBytes) => void): boolean {
    let start = 0
    while (start < chunk.length) {
      const end = chunk[start] === LINE_FEED ? start : chunk.indexOf(LINE_FEED, start)
      if (end === -1) return this.#begin(chunk.subarray(start))
      const part = chunk.subarray(start, end)
      start = end + 1
      if (this.#begun.length > 0) {
        if (!this.#begin(part)) return false
        onLine(this.#begun.take())
      } else if (part.length > this.#maxBytes) return false
      else if (part.length > 0) onLine(part)
    }
    return true
  }

  #begin(part: JsonBytes): boolean {
    if (this.#begun.add(part)) return true
    this.#begun.take()
    return false
  }
}

/**
 * A message for a transport on which a line is a message: spaces in place of line breaks, which can
 * only be between the tokens of JSON.
 */
export function singleLine(message: JsonBytes): JsonBytes {
  if (!message.includes(LINE_FEED) && !message.includes(CARRIAGE_RETURN)) return message
  const line = Buffer.from(message)
  for (let at = 0; at < line.length; at++) {
    if (line[at] === LINE_FEED || line[at] === CARRIAGE_RETURN) line[at] = SPACE
  }
  return line
}
