import type { FigurePlaces } from '../../dialects/bodies/route.ts'
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  DIGIT_0,
  DIGIT_9,
  DOT,
  LOWER_E,
  MINUS,
  OPEN_BRACE,
  OPEN_BRACKET,
  PLUS,
  QUOTE,
  SPACE,
} from '../../json/char-codes.ts'

/**
 * Receives a figure: the text of a number or of a string without escapes. If a figure is there
 * twice, the last counts.
 */
export type OnFigure = (name: string, text: string) => void

/** Longest key or value that is kept; all that are read are shorter. */
const MAX_TEXT_BYTES = 256

/**
 * Finds a few figures in JSON that comes in pieces, cut anywhere: in an object, or in each object
 * of a list. It reads each byte once, and keeps only the open objects that matter and one short
 * text. It does not validate: bytes that are not JSON give meaningless figures or none. It never
 * throws.
 */
export class FigureReader {
  readonly #root: FigurePlaces
  readonly #onFigure: OnFigure
  /** The open objects that matter, outermost first. */
  readonly #open: FigurePlaces[] = []
  /** Open levels inside of the last one that do not matter. */
  #skipped = 0
  /** A key comes next in the last open object. */
  #wantsKey = false
  /** The meaning of the next value, by its key. */
  #place: string | FigurePlaces | undefined
  #inString = false
  #isEscaped = false
  #isNumber = false
  /** The key or value that is being read; `null` if it does not matter. */
  #text: string | null = null

  constructor(root: FigurePlaces, onFigure: OnFigure) {
    this.#root = root
    this.#onFigure = onFigure
    this.reset()
  }

  /** Begins another JSON text. */
  reset(): void {
    this.#open.length = 0
    this.#skipped = 0
    this.#wantsKey = false
    this.#place = this.#root
    this.#inString = false
    this.#isEscaped = false
    this.#isNumber = false
    this.#text = null
  }

  read(bytes: Uint8Array): void {
    let at = 0
    while (at < bytes.length) {
      if (this.#inString) at = this.#readString(bytes, at)
      else if (this.#skipped > 0) at = this.#skip(bytes, at)
      else {
        const byte = bytes[at] as number
        if (byte > SPACE || this.#isNumber) this.#readByte(byte)
        at += 1
      }
    }
  }

  /** Continues reading a string. Returns the offset after the bytes that were read. */
  #readString(bytes: Uint8Array, start: number): number {
    let at = start
    if (this.#isEscaped) {
      this.#isEscaped = false
      at += 1
    }
    while (at < bytes.length) {
      if (this.#text === null) at = endOfPlain(bytes, at)
      const byte = bytes[at]
      at += 1
      if (byte === QUOTE) {
        this.#endString()
        return at
      }
      if (byte === BACKSLASH) {
        // No key or value that matters needs one.
        this.#text = null
        if (at === bytes.length) this.#isEscaped = true
        at += 1
      } else if (byte !== undefined) this.#keep(byte)
    }
    return bytes.length
  }

  /**
   * Skips values that do not matter, up to a string in them or their end. Returns the offset after
   * the skipped bytes.
   */
  #skip(bytes: Uint8Array, start: number): number {
    let levels = this.#skipped
    let at = start
    while (at < bytes.length && levels > 0 && !this.#inString) {
      const byte = bytes[at]
      at += 1
      if (byte === QUOTE) this.#inString = true
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) levels += 1
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) levels -= 1
    }
    this.#skipped = levels
    return at
  }

  #readByte(byte: number): void {
    if (this.#isNumber && !isOfNumber(byte)) this.#endNumber()
    switch (byte) {
      case QUOTE:
        this.#inString = true
        this.#text = this.#matters ? '' : null
        return
      case OPEN_BRACE:
        this.#openObject()
        return
      case OPEN_BRACKET:
        if (this.#open.length > 0) this.#skipped = 1
        return
      case CLOSE_BRACE:
        this.#open.pop()
        this.#place = this.#open.length === 0 ? this.#root : undefined
        this.#wantsKey = false
        return
      case COMMA:
        this.#wantsKey = this.#open.length > 0
        return
      case COLON:
        this.#wantsKey = false
        return
      default:
        if (this.#isNumber) this.#keep(byte)
        else if ((isDigit(byte) || byte === MINUS) && this.#isFigure) {
          this.#isNumber = true
          this.#text = String.fromCharCode(byte)
        }
    }
  }

  /** Whether a string that begins is a key, or a figure. */
  get #matters(): boolean {
    return this.#open.length > 0 && (this.#wantsKey || this.#isFigure)
  }

  get #isFigure(): boolean {
    return !this.#wantsKey && typeof this.#place === 'string'
  }

  #openObject(): void {
    const place = this.#place
    if (this.#wantsKey || typeof place !== 'object') {
      this.#skipped = 1
      return
    }
    this.#open.push(place)
    this.#place = undefined
    this.#wantsKey = true
  }

  #endString(): void {
    this.#inString = false
    const text = this.#text
    this.#text = null
    if (this.#skipped > 0) return
    if (this.#wantsKey) this.#place = text === null ? undefined : this.#placeOf(text)
    else if (text !== null) this.#tell(text)
  }

  #endNumber(): void {
    this.#isNumber = false
    if (this.#text !== null) this.#tell(this.#text)
    this.#text = null
  }

  #tell(text: string): void {
    if (typeof this.#place === 'string') this.#onFigure(this.#place, text)
    this.#place = undefined
  }

  #placeOf(key: string): string | FigurePlaces | undefined {
    const places = this.#open.at(-1)
    return places !== undefined && Object.hasOwn(places, key) ? places[key] : undefined
  }

  /** One character a byte: what is not ASCII matches no key, and is no number. */
  #keep(byte: number): void {
    if (this.#text === null) return
    this.#text = this.#text.length < MAX_TEXT_BYTES ? this.#text + String.fromCharCode(byte) : null
  }
}

const UPPER_E = 0x45

/** The place of a string's next quote or backslash. */
function endOfPlain(bytes: Uint8Array, start: number): number {
  let at = start
  while (at < bytes.length && bytes[at] !== QUOTE && bytes[at] !== BACKSLASH) at += 1
  return at
}

function isDigit(byte: number): boolean {
  return byte >= DIGIT_0 && byte <= DIGIT_9
}

function isOfNumber(byte: number): boolean {
  const isSign = byte === MINUS || byte === PLUS
  return isDigit(byte) || isSign || byte === DOT || byte === LOWER_E || byte === UPPER_E
}
