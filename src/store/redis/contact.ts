const SERVER_TIME = /server_time_usec:(\d+)/

/**
 * What looks at a server say of its time, and since when all processes have reached it without a
 * break. A process that could not reach it may have answered turns that others do not know of. When
 * it is back, it makes the others doubt until it has told them.
 */
export class Contact {
  /** Who is silent for so long may have something to tell. */
  readonly silentMs: number
  #isLost = false
  #isSure = false
  #isDoubted = false
  #sinceMs = Number.NEGATIVE_INFINITY
  #leaseMs = Number.NEGATIVE_INFINITY
  #sureMs = Number.NEGATIVE_INFINITY
  /** Whether this process has turns to tell of. Until it has, it does not say that it is there. */
  isOwing = false
  /** The server's clock minus ours, in milliseconds, or a little more. */
  #aheadMs: number | null = null

  constructor(silentMs: number) {
    this.silentMs = silentMs
  }

  /** Whether some process may have something to tell that this server does not have. */
  get isDoubted(): boolean {
    return this.#isDoubted
  }

  /** Since when there is no doubt, by `performance.now()`; -Infinity: since the start. */
  get sinceMs(): number {
    return this.#isDoubted ? performance.now() : this.#sinceMs
  }

  /**
   * For how many milliseconds others may still think that this process has nothing to tell. Until
   * then no turn may be answered that the server has not counted.
   */
  get leaseMs(): number {
    return Math.max(0, this.#leaseMs - performance.now())
  }

  /** Whether no process can have missed a turn, by what the server has said lately. */
  get isSure(): boolean {
    return this.#isSure && !this.#isDoubted && performance.now() < this.#sureMs
  }

  /** The server is asked to note that this process is there. It may do so within so many ms. */
  asking(ms: number): void {
    this.#leaseMs = Math.max(this.#leaseMs, performance.now() + ms + this.silentMs)
  }

  /** The server has noted that this process is there. @param isSure whether all others are too */
  noted(isSure: boolean): void {
    this.#isSure = isSure
    this.#sureMs = performance.now() + this.silentMs
    this.#leaseMs = this.#sureMs
  }

  /** It did not answer, or could not be reached. */
  lost(): void {
    this.#isLost = true
    this.#isDoubted = true
  }

  /**
   * It answered.
   * @param info its answer to `INFO`
   * @param askedMs when it was asked, by `performance.now()`
   * @param isUnsure whether some process was away until now
   * @returns whether this one was, so that others must be told
   */
  heard(info: string, askedMs: number, isUnsure: boolean): boolean {
    const wasLost = this.#isLost
    this.#isLost = false
    if (this.#isDoubted && !wasLost && !isUnsure) this.#sinceMs = performance.now()
    this.#isDoubted = wasLost || isUnsure
    const time = SERVER_TIME.exec(info)?.[1]
    this.#aheadMs = time === undefined ? null : Number(time) / 1000 - askedMs
    return wasLost
  }

  /**
   * The server's time in so many milliseconds, as text; empty if it is unknown. A call that it gets
   * later is one that its caller has given up.
   */
  timeIn(ms: number): string {
    return this.#aheadMs === null ? '' : `${Math.ceil(performance.now() + this.#aheadMs + ms)}`
  }
}
