import { GrownBytes } from '../../base/grown-bytes.ts'
import { parseKeepingSpelling } from '../../contract/envelope.ts'
import type { Fields } from '../../dialects/bodies/route.ts'
import { CARRIAGE_RETURN, LINE_FEED } from '../../json/char-codes.ts'
import type { AnswerEvent } from './retrieving-answer.ts'

/** A longer event passes without being read. */
const MAX_EVENT_BYTES = 4 * 1024 * 1024

/**
 * Splits a stream of server-sent events (WHATWG HTML §9.2.6), cut anywhere, into whole events with
 * their bytes. The bytes of one event are collected in one buffer that grows.
 */
export class EventSplitter {
  readonly #room = new GrownBytes(2 * MAX_EVENT_BYTES)
  #atLineStart = true
  #afterReturn = false

  /** Returns the events that these bytes complete. */
  push(bytes: Uint8Array): readonly AnswerEvent[] {
    const events: AnswerEvent[] = []
    let from = 0
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]!
      if (byte === LINE_FEED && this.#afterReturn) {
        // The second half of one line end.
        this.#afterReturn = false
        if (this.#room.length + at - from === 0 && events.length > 0) {
          const last = events.pop()!
          events.push({ ...last, raw: Buffer.concat([last.raw, bytes.subarray(at, at + 1)]) })
          from = at + 1
        }
        continue
      }
      this.#afterReturn = byte === CARRIAGE_RETURN
      if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) {
        this.#atLineStart = false
        continue
      }
      if (this.#atLineStart) {
        this.#room.add(bytes.subarray(from, at + 1))
        events.push(this.#taken())
        from = at + 1
      }
      this.#atLineStart = true
    }
    this.#room.add(bytes.subarray(from))
    if (this.#room.length > MAX_EVENT_BYTES) {
      events.push({ raw: this.#room.take(), name: null, data: undefined })
    }
    return events
  }

  /** What is left at the end of the stream. */
  rest(): Uint8Array {
    return this.#room.take()
  }

  #taken(): AnswerEvent {
    const raw = this.#room.take()
    const lines = raw.toString().split(/\r\n|\n|\r/)
    const name = lines
      .find(line => line.startsWith('event:'))
      ?.slice('event:'.length)
      .trim()
    const data = lines
      .filter(line => line.startsWith('data:'))
      .map(line => line.slice('data:'.length))
    return { raw, name: name ?? null, data: parsed(data.join('\n')) }
  }
}

function parsed(text: string): Fields | undefined {
  try {
    const value = parseKeepingSpelling(text)
    return typeof value === 'object' && value !== null ? (value as Fields) : undefined
  } catch {
    return undefined
  }
}
