/** The mark of a batch that no thread has begun. */
const NOT_BEGUN = -1

/**
 * Marks per thread. They are used in turn, because a thread that is being terminated may still write to
 * its mark for a moment after its batch was given up.
 */
const MARKS_PER_THREAD = 64

/** The place of one batch that is on its way through a thread. */
export interface Slot {
  readonly index: number
  /** Aborted when the batch runs late; that terminates the thread. */
  readonly signal: AbortSignal
  readonly timedOut: boolean
  /** Index of the job that is running; -1 before the first. */
  current(): number
  release(): void
}

export interface Slots {
  readonly free: number
  /**
   * A free slot; call only where `free` is above 0.
   * @param limitOf what a job of the batch may take, by its index, where that is less than others may
   */
  take(limitOf?: (job: number) => number | undefined): Slot
  /** Aborts every batch whose current job has been running for longer than `limitMs`, or than its own limit. */
  stopLate(now: number, limitMs: number): void
}

interface InUse extends Slot {
  readonly controller: AbortController
  limitOf(job: number): number | undefined
  timedOut: boolean
  seen: number
  since: number
}

/** The shared memory for the marks of `threads` threads. */
export function createProgress(threads: number): SharedArrayBuffer {
  return new SharedArrayBuffer(threads * MARKS_PER_THREAD * Int32Array.BYTES_PER_ELEMENT)
}

/**
 * As many batches under way as there are threads. Threads write the index of the job they are at into
 * shared memory, so that a lost or late thread tells which job it was without a message.
 */
export function createSlots(progress: SharedArrayBuffer, threads: number): Slots {
  const marks = new Int32Array(progress)
  const inUse = new Set<InUse>()
  let turn = 0

  /** The next mark that no batch has; there are more marks than threads, so there is one. */
  function nextFree(): number {
    const taken = new Set([...inUse].map(({ index }) => index))
    do turn = (turn + 1) % marks.length
    while (taken.has(turn))
    return turn
  }

  return {
    get free() {
      return threads - inUse.size
    },
    take(limitOf = () => undefined) {
      const index = nextFree()
      Atomics.store(marks, index, NOT_BEGUN)
      const controller = new AbortController()
      const slot: InUse = {
        index,
        controller,
        limitOf,
        signal: controller.signal,
        timedOut: false,
        seen: NOT_BEGUN,
        since: performance.now(),
        current: () => Atomics.load(marks, index),
        release() {
          inUse.delete(slot)
        },
      }
      inUse.add(slot)
      return slot
    },
    stopLate(now, limitMs) {
      for (const slot of inUse) {
        const at = slot.current()
        if (at !== slot.seen) {
          slot.seen = at
          slot.since = now
        } else if (
          !slot.timedOut &&
          now - slot.since > Math.min(limitMs, slot.limitOf(at) ?? limitMs)
        ) {
          slot.timedOut = true
          slot.controller.abort()
        }
      }
    },
  }
}
