import { GrownBytes } from '../../base/grown-bytes.ts'
import type { EventData } from './event-data.ts'

/** Lengths of the frame and of its headers, and a checksum of both, four bytes each. */
const PRELUDE_BYTES = 12
/** The checksum of the frame. */
const TRAILER_BYTES = 4
/** Longer events than that are passed over: those with figures are short. */
const MAX_EVENT_BYTES = 64 * 1024

/**
 * Reads a stream of frames (`application/vnd.amazon.eventstream`) that comes in pieces, cut
 * anywhere, and passes on the payload of each. Checksums are the client's concern. Bytes that are
 * no frames end the reading.
 */
export class FrameReader {
  readonly #to: EventData
  readonly #prelude = Buffer.alloc(PRELUDE_BYTES)
  /** Bytes of the prelude that are there. */
  #known = 0
  #headersLeft = 0
  #payloadLeft = 0
  #trailerLeft = 0
  #isBroken = false

  constructor(to: EventData) {
    this.#to = to
  }

  read(bytes: Uint8Array): void {
    let at = 0
    while (at < bytes.length && !this.#isBroken) at = this.#readPart(bytes, at)
  }

  /** Reads on in the part of the frame that comes next. Returns the offset after what was read. */
  #readPart(bytes: Uint8Array, at: number): number {
    if (this.#known < PRELUDE_BYTES) {
      this.#prelude[this.#known] = bytes[at] as number
      this.#known += 1
      if (this.#known === PRELUDE_BYTES) this.#begin()
      return at + 1
    }
    if (this.#headersLeft > 0) {
      const end = Math.min(bytes.length, at + this.#headersLeft)
      this.#headersLeft -= end - at
      return end
    }
    if (this.#payloadLeft > 0) {
      const end = Math.min(bytes.length, at + this.#payloadLeft)
      this.#payloadLeft -= end - at
      this.#to.data(bytes.subarray(at, end))
      if (this.#payloadLeft === 0) this.#to.end()
      return end
    }
    const end = Math.min(bytes.length, at + this.#trailerLeft)
    this.#trailerLeft -= end - at
    if (this.#trailerLeft === 0) this.#known = 0
    return end
  }

  #begin(): void {
    const total = this.#prelude.readUInt32BE(0)
    this.#headersLeft = this.#prelude.readUInt32BE(4)
    this.#payloadLeft = total - this.#headersLeft - PRELUDE_BYTES - TRAILER_BYTES
    this.#trailerLeft = TRAILER_BYTES
    this.#isBroken = this.#payloadLeft < 0
  }
}

/** Passes on the events of another API that payloads wrap: `{"bytes": BASE64}`. */
export function unwrapped(to: EventData): EventData {
  const event = new GrownBytes(MAX_EVENT_BYTES)
  let isShort = true
  return {
    // The bytes belong to the caller once this returns.
    data(bytes) {
      isShort = isShort && event.add(bytes)
    },
    end() {
      const text = event.take().toString()
      const wrapped = isShort ? /"bytes"\s*:\s*"([A-Za-z0-9+/=]*)"/.exec(text) : null
      if (wrapped !== null) {
        to.data(Buffer.from(wrapped[1] as string, 'base64'))
        to.end()
      }
      isShort = true
    },
  }
}
