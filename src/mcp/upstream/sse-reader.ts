import { GrownBytes } from '../../core/base/grown-bytes.ts'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { CARRIAGE_RETURN, COLON, LINE_FEED, SPACE } from '../../core/json/char-codes.ts'

/** One event of a stream. */
export interface SseEvent {
  /** As the stream names it; empty if it does not. */
  readonly type: string
  /** Its `data` lines, joined by line feeds; empty for an event that only has an id. */
  readonly data: JsonBytes
  /** The last id that the stream gave, also by an earlier event. */
  readonly lastId: string | null
}

const BYTE_ORDER_MARK = Buffer.from('\ufeff')
const NEW_LINE = Buffer.from('\n')
/** Ids and times are short; a longer one is ignored. */
const MAX_FIELD_BYTES = 1024

/**
 * Reads server-sent events from bytes (WHATWG HTML, "Server-sent events"). Data stay bytes. Lines
 * end with LF, CR or both; an event may not exceed its bound. Unlike in browsers, an event without
 * data is reported, since MCP sends ids that way.
 */
export class SseReader {
  readonly #maxBytes: number
  readonly #onEvent: (event: SseEvent) => void
  /** The first parts of the current line. */
  readonly #line: GrownBytes
  /** Bytes of the current event, with the current line. */
  #bytes = 0
  /** The first line of data; `null` before it, and if there are several. */
  #onlyLine: JsonBytes | null = null
  /** Several lines of data, joined. */
  readonly #data: GrownBytes
  #hasData = false
  #hasFields = false
  #type = ''
  #isFirstLine = true
  #afterReturn = false
  /** The id that the current event gives. It counts once the event is complete. */
  #id: string | null = null
  #lastId: string | null = null
  #retryMs: number | null = null

  constructor(maxBytes: number, onEvent: (event: SseEvent) => void) {
    this.#maxBytes = maxBytes
    this.#line = new GrownBytes(maxBytes)
    this.#data = new GrownBytes(maxBytes)
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
        this.#bytes += end - start
        if (this.#bytes > this.#maxBytes) return false
      }
      const part = chunk.subarray(start, end)
      const isWhole = end < length && this.#line.length === 0
      if (!isWhole && !this.#line.add(part)) return false
      if (end === length) return true
      this.#endLine(isWhole ? part : this.#line.take())
      start = end + 1
      if (chunk[end] !== CARRIAGE_RETURN) continue
      if (start === length) this.#afterReturn = true
      else if (chunk[start] === LINE_FEED) start++
    }
    return true
  }

  #endLine(whole: JsonBytes): void {
    const isFirst = this.#isFirstLine
    this.#isFirstLine = false
    const line = isFirst && whole.indexOf(BYTE_ORDER_MARK) === 0 ? whole.subarray(3) : whole
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
    if (name === 'data') this.#addData(value)
    if (value.length > MAX_FIELD_BYTES) return
    if (name === 'event') this.#type = value.toString()
    if (name === 'id' && !value.includes(0)) this.#id = value.toString()
    if (name === 'retry' && /^\d{1,9}$/.test(value.toString('latin1'))) {
      this.#retryMs = Number(value.toString('latin1'))
    }
  }

  #addData(value: JsonBytes): void {
    if (!this.#hasData) {
      this.#hasData = true
      this.#onlyLine = value
      return
    }
    // Each line counts its name, so that the joined ones are within the bound, too.
    if (this.#onlyLine !== null) this.#data.add(this.#onlyLine)
    this.#onlyLine = null
    this.#data.add(NEW_LINE)
    this.#data.add(value)
  }

  #endEvent(): void {
    this.#bytes = 0
    if (!this.#hasFields) return
    const data = this.#onlyLine ?? this.#data.take()
    const type = this.#type
    this.#type = ''
    this.#onlyLine = null
    this.#hasData = false
    this.#hasFields = false
    this.#lastId = this.#id
    this.#onEvent({ type, data, lastId: this.#lastId })
  }
}

/** Where the byte is from `start` on; the length if it is not there. */
function indexOrEnd(chunk: JsonBytes, byte: number, start: number): number {
  const found = chunk.indexOf(byte, start)
  return found === -1 ? chunk.length : found
}
