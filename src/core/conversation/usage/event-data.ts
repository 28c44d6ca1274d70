import { CARRIAGE_RETURN, COLON, LINE_FEED, SPACE } from '../../json/char-codes.ts'

/** Receives the data of a stream's events. */
export interface EventData {
  /** Receives the data of an event piece by piece, without field names. */
  data(bytes: Uint8Array): void
  /** An event with data is over, and another may begin. */
  end(): void
}

/** `data:` */
const FIELD = [0x64, 0x61, 0x74, 0x61, COLON] as const

/**
 * Reads a stream of server-sent events (WHATWG HTML §9.2.6) that comes in pieces, cut anywhere, and
 * passes on the data of its events. Lines of an event's data are joined without the line feed
 * between them, which no JSON needs. If the stream breaks off in an event, the part that came is
 * passed on.
 */
export class EventDataReader {
  readonly #to: EventData
  /** Bytes of this line that match `data:`; -1 if it is another field, all of them in the data. */
  #matched = 0
  /** Whether the next byte is the one space after `data:` that is not data. */
  #atSpace = false
  #lineIsEmpty = true
  /** Data of the event was handed on. */
  #hasData = false
  #afterReturn = false

  constructor(to: EventData) {
    this.#to = to
  }

  read(bytes: Uint8Array): void {
    let at = 0
    let nextReturn = -1
    while (at < bytes.length) {
      const byte = bytes[at] as number
      if (byte === LINE_FEED || byte === CARRIAGE_RETURN) {
        this.#endLine(byte)
        at += 1
        continue
      }
      if (nextReturn < at) nextReturn = placeOf(bytes, CARRIAGE_RETURN, at)
      const end = Math.min(nextReturn, placeOf(bytes, LINE_FEED, at))
      this.#readLine(bytes, at, end)
      at = end
    }
  }

  #readLine(bytes: Uint8Array, start: number, end: number): void {
    this.#lineIsEmpty = false
    this.#afterReturn = false
    let at = start
    while (at < end && this.#matched >= 0 && this.#matched < FIELD.length) {
      const isNext = bytes[at] === FIELD[this.#matched]
      this.#matched = isNext ? this.#matched + 1 : -1
      this.#atSpace = this.#matched === FIELD.length
      at += 1
    }
    if (this.#matched < 0 || at === end) return
    if (this.#atSpace && bytes[at] === SPACE) at += 1
    this.#atSpace = false
    if (at === end) return
    this.#hasData = true
    this.#to.data(bytes.subarray(at, end))
  }

  #endLine(byte: number): void {
    // The second half of one line end.
    const isSecond = byte === LINE_FEED && this.#afterReturn
    this.#afterReturn = byte === CARRIAGE_RETURN
    if (isSecond) return
    if (this.#lineIsEmpty && this.#hasData) {
      this.#hasData = false
      this.#to.end()
    }
    this.#lineIsEmpty = true
    this.#matched = 0
    this.#atSpace = false
  }
}

function placeOf(bytes: Uint8Array, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from)
  return at < 0 ? bytes.length : at
}
