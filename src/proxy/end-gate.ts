/**
 * Keeps an answer from being complete to its client before something is settled. If its head
 * says how long it is, a client knows it whole by its last byte, which is kept back; else by its
 * end.
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

  /** What may pass of the last bytes of an answer of known length. */
  passLast(bytes: Uint8Array): Uint8Array {
    if (this.#open) return bytes
    this.#kept = bytes.subarray(-1)
    return bytes.subarray(0, -1)
  }

  /** What was kept back. */
  get kept(): Uint8Array | undefined {
    return this.#kept
  }
}
