import { GrownBytes } from '../../base/grown-bytes.ts'
import { bodyRules, type RouteName } from '../../dialects/lookup.ts'
import { CARRIAGE_RETURN, COLON, LINE_FEED, SPACE } from '../../json/char-codes.ts'
import { FigureReader } from './figure-reader.ts'
import type { TokenUsage } from './token-usage.ts'

/** Receives the data of a stream's events. */
interface EventData {
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
class EventDataReader {
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

/** How an answer comes: as one JSON text, as server-sent events, or as frames of Amazon's. */
export type AnswerForm = 'json' | 'events' | 'frames'

/** The usage and the model that an answer reports. */
export interface AnswerUsage {
  readonly usage: TokenUsage
  /** The model that answered, as the provider names it. */
  readonly model: string | undefined
}

export interface UsageReader {
  /** The next piece of the answer, however it is cut. Never throws. */
  read(bytes: Uint8Array): void
  /** The usage reported so far; `null` if there were no figures. A stream may report more later. */
  readonly found: AnswerUsage | null
}

/**
 * Reads the usage that an answer of a route reports, while the answer passes. Linear in its length;
 * keeps a few figures of it. An answer's figures and those of its events have the same places, and
 * later figures replace earlier ones.
 */
export function createUsageReader(route: RouteName, form: AnswerForm): UsageReader {
  const figures: Figures = {}
  const reader = new FigureReader(bodyRules(route).usage.places, (name, text) => {
    figures[name] = text
  })
  const pieces = form === 'json' ? reader : readerOfEvents(route, form, reader)
  return {
    read: bytes => pieces.read(bytes),
    get found() {
      const usage = usageOf(route, figures)
      return usage === null ? null : { usage, model: figures['model'] }
    },
  }
}

function readerOfEvents(
  route: RouteName,
  form: 'events' | 'frames',
  figures: FigureReader,
): Pick<UsageReader, 'read'> {
  const to = { data: (bytes: Uint8Array) => figures.read(bytes), end: () => figures.reset() }
  if (form === 'events') return new EventDataReader(to)
  return new FrameReader(bodyRules(route).usage.hasOwnFrames ? to : unwrapped(to))
}

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
class FrameReader {
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

/** Figures of an answer by name, as they are spelled. */
export type Figures = Record<string, string>

/** Larger figures cannot be right. */
const MAX_TOKENS = 1e9

/** The usage by the figures. Returns `null` if the tokens of the prompt are not among them. */
export function usageOf(route: RouteName, figures: Figures): TokenUsage | null {
  const input = tokens(figures['input'])
  if (input === undefined) return null
  const output = (tokens(figures['output']) ?? 0) + (tokens(figures['thoughts']) ?? 0)
  const read = tokens(figures['cache_read']) ?? 0
  const long = tokens(figures['cache_write_long']) ?? 0
  const written =
    tokens(figures['cache_write']) ?? (tokens(figures['cache_write_short']) ?? 0) + long
  if (bodyRules(route).usage.inputIsUncached) {
    return { uncached: input, cache_read: read, ...writes(written, long), output }
  }
  // The input includes what was read from the cache, and written to it.
  const cacheRead = Math.min(read, input)
  const cacheWrite = Math.min(written, input - cacheRead)
  const uncached = input - cacheRead - cacheWrite + (tokens(figures['tool_input']) ?? 0)
  return { uncached, cache_read: cacheRead, ...writes(cacheWrite, long), output }
}

function writes(all: number, long: number): Pick<TokenUsage, 'cache_write' | 'cache_write_long'> {
  const cache_write_long = Math.min(long, all)
  return { cache_write: all - cache_write_long, cache_write_long }
}

function tokens(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,10}$/.test(text)) return undefined
  const value = Number(text)
  return value <= MAX_TOKENS ? value : undefined
}
