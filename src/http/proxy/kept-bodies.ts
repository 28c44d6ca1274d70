/** Bodies that are kept until their answers end, in all of a process. */
const MAX_BYTES = 256 * 1024 * 1024

/** Counts the bodies that may be sent again. Beyond the bound an answer cannot be continued. */
export class KeptBodies {
  #bytes = 0

  /** Whether so many bytes may be kept, until `release`. */
  claim(bytes: number): boolean {
    if (this.#bytes + bytes > MAX_BYTES) return false
    this.#bytes += bytes
    return true
  }

  release(bytes: number): void {
    this.#bytes -= bytes
  }
}
