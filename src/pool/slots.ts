import { setTimeout } from 'node:timers/promises'
import type { Kind, Queued } from '../core/base/fair-queue.ts'
import { createMarks, readMarks } from '../core/base/thread-marks.ts'
import { endThread, mayTerminate, resetProtection } from '../core/base/unbroken.ts'

/** The mark of a batch that no thread has begun. */
const NOT_BEGUN = -1

/**
 * Marks per thread. They are used in turn, because a thread that is being terminated may still
 * write to its mark for a moment after its batch was given up.
 */
const MARKS_PER_THREAD = 64

/** A short job that runs longer than this counts as a long one, in milliseconds. */
export const SHORT_MS = 100

/**
 * Most that one look adds to the time of a job, in milliseconds. If looks are further apart, this
 * process got no processor time, and neither did its threads. Such a pause does not count as work.
 */
const LONGEST_STEP_MS = 200

/**
 * A thread must begin its batch within this, in milliseconds. It is long because a replaced thread
 * first has to load; none of the jobs is blamed for it.
 */
const BEGIN_LIMIT_MS = 30_000

/**
 * `timeout`: a job ran into its limit. `moved`: a short job ran long while others waited for it.
 */
export type StopReason = 'timeout' | 'moved'

/** A job on a thread. */
export interface AtWork extends Queued {
  readonly kind: Kind
  readonly sized: Sized
  /** What it may take, in milliseconds, if that is less than other jobs may. */
  readonly limitMs?: number | undefined
}

/** What is known of a job before it runs. */
export interface Sized {
  readonly tenant: string
  readonly op: string
  readonly bytes: number
}

/** The place of one batch that is on its way through a thread. */
export interface Slot {
  readonly index: number
  readonly entries: readonly AtWork[]
  /** The kind of its jobs when they were sent. A short job that runs long stays `short` here. */
  readonly kind: Kind
  /** Aborted by `stop`; that terminates the thread. */
  readonly signal: AbortSignal
  /** Why it was stopped, if it was. */
  readonly stopped: StopReason | null
  /** How long the current job has been running, in milliseconds, by the last look. */
  readonly ranMs: number
  /**
   * Whether the current job is on a thread of long ones: by its estimate, as the first of its kind,
   * or by the time that it has been running.
   */
  readonly isLong: boolean
  /**
   * Index of the running job, -1 before the first. After a stop it stays the job that caused the
   * stop, because the thread may continue for a moment and begin the next one.
   */
  current(): number
  /** Does nothing if the thread is in work that may not be broken off: the next look comes back. */
  stop(reason: StopReason): void
  release(): void
}

/** Whether a job that was not estimated as long runs long. */
export function isOverdue({ kind, ranMs }: Pick<Slot, 'kind' | 'ranMs'>): boolean {
  return kind === 'short' && ranMs > SHORT_MS
}

export interface Slots {
  readonly inUse: ReadonlySet<Slot>
  /**
   * A slot for a batch, whose jobs are all of one kind.
   * @param isTrial nothing is known of its job, so that it may run long
   */
  take(entries: readonly AtWork[], isTrial?: boolean): Slot
  /**
   * Notes how long jobs have been running, and stops those that are over `limitMs` or their own
   * limit.
   */
  look(now: number, limitMs: number): void
  /**
   * Decides that all threads are terminated. Returns `false` if one is in work that may not be
   * broken off, which is its last: the caller comes back soon.
   */
  mayEnd(): boolean
  /** Resolves when all threads may be terminated. They do nothing native after it. */
  beforeEnd(): Promise<void>
}

interface InUse extends Slot {
  readonly isTrial: boolean
  stopped: StopReason | null
  isLong: boolean
  ranMs: number
  seen: number
  /** When the current value of the mark was first seen, in milliseconds. */
  atMs: number
}

/** The shared memory for the marks of `threads` threads. */
export function createProgress(threads: number): SharedArrayBuffer {
  return createMarks(threads * MARKS_PER_THREAD)
}

/** Between two looks at a thread that is in work that may not be broken off, in milliseconds. */
const PAUSE_MS = 2

/**
 * The batches that are under way. Threads write the index of the job they are at into shared
 * memory, so that the pool knows which job a lost or late thread was at without a message.
 */
export function createSlots(progress: SharedArrayBuffer): Slots {
  const { marks, protections } = readMarks(progress)
  const inUse = new Set<InUse>()
  let turn = 0
  let lookedAt = 0

  /** The next mark that no batch has; there are more marks than threads, so there is one. */
  function nextFree(): number {
    const taken = new Set([...inUse].map(({ index }) => index))
    do turn = (turn + 1) % marks.length
    while (taken.has(turn))
    return turn
  }

  const mayEnd = () => [...inUse].map(({ index }) => endThread(protections, index)).every(Boolean)

  return {
    inUse,
    mayEnd,
    take(entries, isTrial = false) {
      const index = nextFree()
      Atomics.store(marks, index, NOT_BEGUN)
      resetProtection(protections, index)
      const controller = new AbortController()
      const kind = entries[0]?.kind ?? 'short'
      let stoppedFor = NOT_BEGUN
      const slot: InUse = {
        index,
        entries,
        kind,
        signal: controller.signal,
        stopped: null,
        isTrial,
        isLong: isTrial || kind === 'long',
        ranMs: 0,
        atMs: 0,
        seen: NOT_BEGUN,
        current: () => (slot.stopped === null ? Atomics.load(marks, index) : stoppedFor),
        stop(reason) {
          if (slot.stopped !== null || !mayTerminate(protections, index)) return
          stoppedFor = slot.seen
          slot.stopped = reason
          controller.abort()
        },
        release() {
          inUse.delete(slot)
        },
      }
      inUse.add(slot)
      return slot
    },
    look(now, limitMs) {
      const stepMs = Math.min(now - lookedAt, LONGEST_STEP_MS)
      lookedAt = now
      for (const slot of inUse) {
        if (slot.stopped !== null) continue
        const at = slot.current()
        slot.atMs = at === slot.seen ? slot.atMs + stepMs : 0
        slot.seen = at
        slot.ranMs = at === NOT_BEGUN ? 0 : slot.atMs
        slot.isLong = slot.isTrial || slot.kind === 'long' || slot.ranMs > SHORT_MS
        const ownMs = slot.entries[at]?.limitMs ?? limitMs
        const mostMs = at === NOT_BEGUN ? BEGIN_LIMIT_MS : Math.min(limitMs, ownMs)
        if (slot.atMs > mostMs) slot.stop('timeout')
      }
    },
    async beforeEnd() {
      while (!mayEnd()) await setTimeout(PAUSE_MS)
    },
  }
}
