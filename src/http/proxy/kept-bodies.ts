/** Bodies that are kept until their answers end, in all of a process. */
const MAX_BYTES = 256 * 1024 * 1024

/** Counts the bodies that may be sent again. Beyond the bound an answer cannot be continued. */
export class KeptBodies {
  readonly #maxBytes: number
  #bytes = 0

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes
  }

  /** Whether so many bytes may be kept, until `release`. */
  claim(bytes: number): boolean {
    if (this.#bytes + bytes > this.#maxBytes) return false
    this.#bytes += bytes
    return true
  }

  release(bytes: number): void {
    this.#bytes -= bytes
  }
}
