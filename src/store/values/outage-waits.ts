import { setTimeout } from 'node:timers/promises'

export interface OutageWaitsOptions {
  /** For how long the store has been away, in milliseconds; 0 if it takes calls. */
  awayMs(): number
  /** Whether it answers that it takes no calls: that is no silence. Absent: it never does. */
  isRefusing?(): boolean
  /** How long a turn waits for a store that takes calls and does not answer, or just failed. */
  readonly waitMs: number
  /** How old an outage may be in which turns with earlier results wait; at least `waitMs`. */
  readonly outageMs: number
  /** Milliseconds of a clock that does not jump; `performance.now()` if it is absent. */
  now?(): number
  sleep?(ms: number): Promise<unknown>
}

/** When the wait of a turn must end. */
export interface WaitBounds {
  /** By the clock of the waits. */
  readonly untilMs: number
  /** Whether the answer is not needed any more. */
  isOver(): boolean
}

interface Question<Answer> {
  ask(): Promise<Answer>
  isHeard(answer: Answer): boolean
  /** Whether it is about results of earlier turns, which another process may have sent. */
  readonly isEarlier: boolean
  readonly bounds?: WaitBounds | undefined
}

/** How often a store that is not heard is asked again. */
const ASK_AGAIN_MS = 50
/** Failures that are farther apart belong to different outages. */
const APART_MS = 5_000

/**
 * How turns wait for a store that is not heard. A turn with earlier results waits through an
 * outage, because a changed prefix costs more. But it does so only while the outage is young: a
 * store that is away for an hour does not hold up each turn.
 */
export class OutageWaits {
  readonly #options: Required<OutageWaitsOptions>
  /** Since when no call was answered, also if the store seems to be there in between. */
  #failingMs = Number.POSITIVE_INFINITY
  #failedMs = Number.NEGATIVE_INFINITY

  constructor(options: OutageWaitsOptions) {
    const usual = { now: () => performance.now(), sleep: setTimeout, isRefusing: () => false }
    this.#options = { ...usual, ...options }
  }

  /** A call was answered, or not. */
  note(isHeard: boolean): void {
    const now = this.#options.now()
    if (isHeard) {
      this.#failingMs = Number.POSITIVE_INFINITY
      return
    }
    const isApart = now - this.#failedMs > APART_MS
    this.#failingMs = isApart ? now : Math.min(this.#failingMs, now)
    this.#failedMs = now
  }

  /** Asks until the store is heard, or the turn must not wait longer. @returns the last answer */
  async hear<Answer>(question: Question<Answer>): Promise<Answer> {
    const { ask, isHeard } = question
    const { awayMs, sleep } = this.#options
    const mayWait = this.#begin(question)
    for (;;) {
      const answer = await ask()
      if (isHeard(answer) || !mayWait()) return answer
      // While it is away, each call would fail at once.
      do await sleep(ASK_AGAIN_MS)
      while (awayMs() > 0 && mayWait())
    }
  }

  #begin<Answer>({ isEarlier, bounds }: Question<Answer>): () => boolean {
    const { awayMs, isRefusing, waitMs, outageMs, now: clock } = this.#options
    const most = isEarlier ? Math.max(waitMs, outageMs) : waitMs
    let sinceMs = clock()
    return () => {
      const now = clock()
      if (isRefusing()) return false
      if (bounds !== undefined && (now >= bounds.untilMs || bounds.isOver())) return false
      const isAway = awayMs() > 0
      // A store that is back has as long once more.
      if (isEarlier && isAway) sinceMs = now
      return this.#ageMs(now) < most && (now - sinceMs < waitMs || (isEarlier && isAway))
    }
  }

  /** Age of the present outage; 0 if there is none. */
  #ageMs(now: number): number {
    const isFailing = now - this.#failedMs <= APART_MS
    return Math.max(this.#options.awayMs(), isFailing ? now - this.#failingMs : 0)
  }
}
