/**
 * Keeps an answer incomplete for its client until something is settled. If the head has the
 * answer's length, the last byte completes it, and that byte is kept back. Otherwise the end
 * completes it.
 */
export class EndGate {
  #open: boolean
  #kept: Uint8Array | undefined

  /**
   * @param until what it opens with; absent: it is open
   * @param opened called when it opens, later than this
   */
  constructor(until: Promise<unknown> | undefined, opened: () => void) {
    this.#open = until === undefined
    const open = () => {
      this.#open = true
      opened()
    }
    until?.then(open, open)
  }

  get isOpen(): boolean {
    return this.#open
  }

  /** Returns how much of the last bytes of an answer of known length may pass. */
  passLast(bytes: Uint8Array): Uint8Array {
    if (this.#open) return bytes
    this.#kept = bytes.subarray(-1)
    return bytes.subarray(0, -1)
  }

  /** The byte that was kept back. */
  get kept(): Uint8Array | undefined {
    return this.#kept
  }
}
