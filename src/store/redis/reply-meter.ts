/** Bytes of one reply at most. What we ask for has 1 MiB; a fingerprint of a team may have more. */
export const MAX_REPLY_BYTES = 64 * 1024 * 1024
/** Values of one reply at most: room for them is made before they come. */
export const MAX_REPLY_VALUES = 1024 * 1024
/** The cost of a chunk beside its bytes: it is kept as an object until the reply ends. */
const CHUNK_COST_BYTES = 512
/** The longest header: a sign, and a length of 20 digits. */
const MAX_LENGTH_DIGITS = 20

const [BULK, ARRAY, ERROR, NUMBER, SIMPLE] = [0x24, 0x2a, 0x2d, 0x3a, 0x2b]
const TYPES: ReadonlySet<number> = new Set([BULK, ARRAY, ERROR, NUMBER, SIMPLE])
const MINUS = 0x2d
const [DIGIT_0, DIGIT_9, LINE_FEED] = [0x30, 0x39, 0x0a]

export class ReplyTooLarge extends Error {
  override readonly name = 'ReplyTooLarge'
}

/** Follows the frames of RESP 2, and counts what the reply that comes now makes its reader hold. */
export class ReplyMeter {
  /** Bytes of the reply so far, with the cost of its chunks. */
  #held = 0
  /** Values of the reply so far. */
  #values = 0
  /** Values that are still to come; 0 between replies. */
  #open = 0
  /** Bytes of a bulk string, and of its line end, that are still to come. */
  #bulk = 0
  /** The type of the line that has begun; 0 before one. */
  #type = 0
  #length = 0
  #digits = 0
  #isNegative = false

  /** @throws ReplyTooLarge for more than a reply may have, or a type that RESP 2 does not have */
  add(chunk: Uint8Array): void {
    let start = 0
    let at = 0
    while (at < chunk.length) {
      at = this.#bulk > 0 ? this.#passBulk(chunk, at) : this.#line(chunk, at)
      if (this.#open > 0 || this.#type !== 0 || this.#bulk > 0) continue
      this.#held = 0
      this.#values = 0
      start = at
    }
    if (start === chunk.length) return
    this.#held += chunk.length - start + CHUNK_COST_BYTES
    this.#check(this.#held, MAX_REPLY_BYTES)
  }

  #passBulk(chunk: Uint8Array, at: number): number {
    const passed = Math.min(this.#bulk, chunk.length - at)
    this.#bulk -= passed
    if (this.#bulk === 0) this.#open--
    return at + passed
  }

  /** Reads the line at the place to its end, or to that of the chunk. */
  #line(chunk: Uint8Array, start: number): number {
    let at = start
    if (this.#type === 0) this.#begin(chunk[at++]!)
    const hasLength = this.#type === BULK || this.#type === ARRAY
    for (; at < chunk.length; at++) {
      const byte = chunk[at]!
      if (byte === LINE_FEED) {
        this.#end()
        return at + 1
      }
      if (hasLength) this.#lengthByte(byte)
    }
    return at
  }

  #begin(type: number): void {
    if (!TYPES.has(type)) {
      throw new ReplyTooLarge(`a reply of Redis has the type ${type}, which RESP 2 lacks`)
    }
    if (this.#open === 0) this.#open = 1
    this.#check(++this.#values, MAX_REPLY_VALUES)
    this.#type = type
    this.#length = 0
    this.#digits = 0
    this.#isNegative = false
  }

  #lengthByte(byte: number): void {
    if (byte === MINUS) this.#isNegative = true
    else if (byte >= DIGIT_0 && byte <= DIGIT_9) {
      this.#length = this.#length * 10 + byte - DIGIT_0
      this.#check(++this.#digits, MAX_LENGTH_DIGITS)
    }
  }

  #end(): void {
    const type = this.#type
    this.#type = 0
    const hasMore = (type === BULK || type === ARRAY) && !this.#isNegative
    if (hasMore && type === BULK) {
      this.#check(this.#length, MAX_REPLY_BYTES)
      this.#bulk = this.#length + 2
      return
    }
    this.#open--
    if (hasMore) this.#open += this.#length
    this.#check(this.#open + this.#values, MAX_REPLY_VALUES)
  }

  #check(value: number, most: number): void {
    if (value > most) throw new ReplyTooLarge('a reply of Redis is too large')
  }
}
