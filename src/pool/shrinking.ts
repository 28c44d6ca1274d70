/** Has idle threads give back the memory that large jobs took, one thread at a time. */
export interface Shrinking {
  /** Notes that the heap of a thread has grown. */
  noteGrown(threadId: number): void
  /** Forgets a thread that has ended. */
  forget(threadId: number): void
  close(): void
}

export interface ShrinkingOptions {
  /** Threads that run no batch now. */
  idle(): number
  /**
   * Asks an idle thread, whichever it is, to shrink if it has this id; resolves to whether it did.
   */
  ask(threadId: number): Promise<boolean>
}

/** Pause before a grown heap is looked after, and between two of them, in milliseconds. */
export const SHRINK_PAUSE_MS = 1_000

/**
 * Messages cannot be addressed to a thread. So each idle one gets a message with the id of the
 * thread that is meant; the others answer at once, and remain free for jobs that come meanwhile. A
 * thread that is busy now is asked again after a pause.
 */
export function createShrinking({ idle, ask }: ShrinkingOptions): Shrinking {
  const grown = new Set<number>()
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function schedule(): void {
    if (closed || timer !== undefined || grown.size === 0) return
    timer = setTimeout(async () => {
      const [first] = grown
      if (first !== undefined) await shrinkNext(first)
      timer = undefined
      schedule()
    }, SHRINK_PAUSE_MS)
    timer.unref()
  }

  async function shrinkNext(threadId: number): Promise<void> {
    const asked = Array.from({ length: idle() }, async () => {
      if (await ask(threadId)) grown.delete(threadId)
    })
    // A thread that is lost meanwhile needs nothing more.
    await Promise.allSettled(asked)
    // To the end of the row, so that a thread that is busy for long does not hold up others.
    if (grown.delete(threadId)) grown.add(threadId)
  }

  return {
    noteGrown(threadId) {
      grown.add(threadId)
      schedule()
    },
    forget: threadId => grown.delete(threadId),
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
