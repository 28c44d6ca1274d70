/**
 * Fields one after the other, as few bytes each as they need. A count is written in groups of seven
 * bits, the lowest first; the highest bit of a byte says that another one follows.
 */

const GROUP = 128
const HASH_BYTES = 32
/** Hashes and numbers of 32 bits that one writer takes at once fit into so much. */
const SLACK_BYTES = 64

export class ByteWriter {
  #buffer = Buffer.allocUnsafe(256)
  #at = 0

  /** What was written, in memory of its own. */
  get bytes(): Uint8Array {
    return new Uint8Array(this.#buffer.subarray(0, this.#at))
  }

  /** @param value a whole number from 0 to 2^53 */
  count(value: number): this {
    this.#reserve(SLACK_BYTES)
    let left = value
    while (left >= GROUP) {
      this.#buffer[this.#at++] = (left % GROUP) + GROUP
      left = Math.floor(left / GROUP)
    }
    this.#buffer[this.#at++] = left
    return this
  }

  /** @param value a whole number of less than 2^52, of either sign */
  signed(value: number): this {
    return this.count(value < 0 ? -2 * value - 1 : 2 * value)
  }

  /** Any 32 bits. */
  word(value: number): this {
    this.#reserve(SLACK_BYTES)
    this.#at = this.#buffer.writeInt32LE(value | 0, this.#at)
    return this
  }

  /** A hash of 64 hex digits; zeros at its end are left out. */
  hash(digits: string): this {
    this.#reserve(SLACK_BYTES)
    const bytes = Math.ceil(digits.replace(/0+$/, '').length / 2)
    this.#buffer[this.#at] = bytes
    this.#buffer.write(digits.slice(0, 2 * bytes), this.#at + 1, 'hex')
    this.#at += 1 + bytes
    return this
  }

  /** Bytes after their count. */
  block(bytes: Uint8Array): this {
    this.count(bytes.byteLength)
    this.#reserve(bytes.byteLength)
    this.#buffer.set(bytes, this.#at)
    this.#at += bytes.byteLength
    return this
  }

  #reserve(bytes: number): void {
    const needed = this.#at + bytes
    if (needed <= this.#buffer.byteLength) return
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#buffer.byteLength))
    this.#buffer.copy(larger, 0, 0, this.#at)
    this.#buffer = larger
  }
}

/** Reads what `ByteWriter` has written. Throws SyntaxError for bytes that it has not written. */
export class ByteReader {
  readonly #buffer: Buffer
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#buffer.byteLength
  }

  count(): number {
    let value = 0
    for (let weight = 1; ; weight *= GROUP) {
      const byte = this.#buffer[this.#take(1)]!
      value += (byte % GROUP) * weight
      if (!Number.isSafeInteger(value)) throw damaged()
      if (byte < GROUP) return value
    }
  }

  signed(): number {
    const value = this.count()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }

  word(): number {
    return this.#buffer.readInt32LE(this.#take(4))
  }

  hash(): string {
    const bytes = this.#buffer[this.#take(1)]!
    if (bytes > HASH_BYTES) throw damaged()
    const at = this.#take(bytes)
    return this.#buffer.toString('hex', at, at + bytes).padEnd(2 * HASH_BYTES, '0')
  }

  block(): Buffer {
    const bytes = this.count()
    const at = this.#take(bytes)
    return this.#buffer.subarray(at, at + bytes)
  }

  #take(bytes: number): number {
    const at = this.#at
    if (at + bytes > this.#buffer.byteLength) throw damaged()
    this.#at = at + bytes
    return at
  }
}

function damaged(): SyntaxError {
  return new SyntaxError('these are no changes of a session')
}
