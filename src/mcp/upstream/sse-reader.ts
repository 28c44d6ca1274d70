import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { CARRIAGE_RETURN, COLON, LINE_FEED, SPACE } from '../../core/json/char-codes.ts'

/** One event of a stream. */
export interface SseEvent {
  /** Its `data` lines, joined by line feeds; empty for an event that only has an id. */
  readonly data: JsonBytes
  /** The last id that the stream gave, also by an earlier event. */
  readonly lastId: string | null
}

const BYTE_ORDER_MARK = Buffer.from('\ufeff')
const NEW_LINE = Buffer.from('\n')
/** Ids and times are short; a longer one is ignored. */
const MAX_FIELD_BYTES = 1024
/** What a line of data counts in addition, since each is an object until its event ends. */
const LINE_COST_BYTES = 100

/**
 * Reads server-sent events from bytes (WHATWG HTML, "Server-sent events"). Data stay bytes. Lines
 * end with LF, CR or both; an event may not exceed its bound. Unlike in browsers, an event without
 * data is reported, since MCP sends ids that way.
 */
export class SseReader {
  readonly #maxBytes: number
  readonly #onEvent: (event: SseEvent) => void
  /** What came of the current line. */
  #line: JsonBytes[] = []
  /** Bytes of the current event, with the current line. */
  #bytes = 0
  #data: JsonBytes[] = []
  #hasFields = false
  #isFirstLine = true
  #afterReturn = false
  /** The id that the current event gives. It counts once the event is complete. */
  #id: string | null = null
  #lastId: string | null = null
  #retryMs: number | null = null

  constructor(maxBytes: number, onEvent: (event: SseEvent) => void) {
    this.#maxBytes = maxBytes
    this.#onEvent = onEvent
  }

  /** The id of the last complete event: where another stream may go on. */
  get lastId(): string | null {
    return this.#lastId
  }

  /** How long the server wants clients to wait before they come back. */
  get retryMs(): number | null {
    return this.#retryMs
  }

  /** @returns `false` if an event exceeds the bound; nothing can be read any more */
  push(chunk: JsonBytes): boolean {
    const { length } = chunk
    let start = this.#afterReturn && chunk[0] === LINE_FEED ? 1 : 0
    if (length > 0) this.#afterReturn = false
    // Where the next ones are: each byte is looked at once, however many lines there are.
    let feed = -1
    let carriageReturn = -1
    while (start < length) {
      let end = start
      if (chunk[start] !== LINE_FEED && chunk[start] !== CARRIAGE_RETURN) {
        if (feed < start) feed = indexOrEnd(chunk, LINE_FEED, start)
        if (carriageReturn < start) carriageReturn = indexOrEnd(chunk, CARRIAGE_RETURN, start)
        end = Math.min(feed, carriageReturn)
        if (!this.#add(chunk.subarray(start, end))) return false
        if (end === length) return true
      }
      this.#endLine()
      start = end + 1
      if (chunk[end] !== CARRIAGE_RETURN) continue
      if (start === length) this.#afterReturn = true
      else if (chunk[start] === LINE_FEED) start++
    }
    return true
  }

  #add(part: JsonBytes): boolean {
    this.#bytes += part.length
    this.#line.push(part)
    return this.#bytes <= this.#maxBytes
  }

  #endLine(): void {
    const isFirst = this.#isFirstLine
    this.#isFirstLine = false
    if (this.#line.length === 0) {
      this.#endEvent()
      return
    }
    let line = this.#line.length === 1 ? (this.#line[0] as JsonBytes) : Buffer.concat(this.#line)
    this.#line = []
    if (isFirst && line.indexOf(BYTE_ORDER_MARK) === 0) line = line.subarray(3)
    if (line.length === 0) this.#endEvent()
    else if (line[0] === COLON) this.#bytes -= line.length
    else this.#field(line)
  }

  #field(line: JsonBytes): void {
    const colon = line.indexOf(COLON)
    const name = line.toString('latin1', 0, colon === -1 ? line.length : Math.min(colon, 8))
    const valueAt = colon === -1 ? line.length : colon + (line[colon + 1] === SPACE ? 2 : 1)
    const value = line.subarray(valueAt)
    this.#hasFields = true
    if (name === 'data') {
      this.#data.push(value)
      this.#bytes += LINE_COST_BYTES
    }
    if (value.length > MAX_FIELD_BYTES) return
    if (name === 'id' && !value.includes(0)) this.#id = value.toString()
    if (name === 'retry' && /^\d{1,9}$/.test(value.toString('latin1'))) {
      this.#retryMs = Number(value.toString('latin1'))
    }
  }

  #endEvent(): void {
    this.#bytes = 0
    if (!this.#hasFields) return
    const data = this.#data
    this.#data = []
    this.#hasFields = false
    this.#lastId = this.#id
    this.#onEvent({ data: joinedLines(data), lastId: this.#lastId })
  }
}

/** Where the byte is from `start` on; the length if it is not there. */
function indexOrEnd(chunk: JsonBytes, byte: number, start: number): number {
  const found = chunk.indexOf(byte, start)
  return found === -1 ? chunk.length : found
}

function joinedLines(lines: readonly JsonBytes[]): JsonBytes {
  if (lines.length === 1) return lines[0] as JsonBytes
  return Buffer.concat(lines.flatMap((line, n) => (n === 0 ? [line] : [NEW_LINE, line])))
}
