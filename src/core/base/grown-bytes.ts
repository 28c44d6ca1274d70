/**
 * Bytes that come in parts of any size, in one buffer that grows. In a list, a part of one byte
 * from a peer would cost us some 250. While the buffer grows, both it and the next one are held:
 * at most three times the bytes.
 */
export class GrownBytes {
  readonly #maxBytes: number
  readonly #expected: number
  #bytes = new Uint8Array(0)
  #length = 0

  /** @param expected bytes that were announced: reserved at once, but not filled */
  constructor(maxBytes: number, expected = 0) {
    this.#maxBytes = maxBytes
    this.#expected = Math.min(expected, maxBytes)
  }

  get length(): number {
    return this.#length
  }

  /** @returns `false` if it would exceed the bound: nothing of the part is taken */
  add(part: Uint8Array): boolean {
    const length = this.#length + part.length
    if (length > this.#maxBytes) return false
    if (length > this.#bytes.length) this.#reserve(length)
    if (part.length === 1) this.#bytes[this.#length] = part[0] as number
    else this.#bytes.set(part, this.#length)
    this.#length = length
    return true
  }

  /** All that came so far, alone in its buffer or at the start of it. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length)
  }

  /** All that came so far; nothing is left. */
  take(): Buffer<ArrayBuffer> {
    const taken = Buffer.from(this.#bytes.buffer, 0, this.#length)
    this.#bytes = new Uint8Array(0)
    this.#length = 0
    return taken
  }

  #reserve(length: number): void {
    const size = Math.min(this.#maxBytes, Math.max(length, 2 * this.#bytes.length, this.#expected))
    // Not zero-filled: announced bytes cost no memory before they arrive.
    const larger = new Uint8Array(Buffer.allocUnsafeSlow(size).buffer)
    larger.set(this.bytes)
    this.#bytes = larger
  }
}
