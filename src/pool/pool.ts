import type { JobOutcome } from '../../workers/protocol.ts'
import { addFields } from '../core/base/add-fields.ts'
import { FairQueue } from '../core/base/fair-queue.ts'
import type { LookupResults } from '../core/contract/lookup.ts'
import { holdExit } from '../threads/start-thread.ts'
import { createEstimates, takeBatch } from './batching.ts'
import {
  ABANDONED,
  closing,
  type End,
  type Entry,
  EXPIRED,
  failed,
  isAbandoned,
  isWhole,
  lostProblem,
  messageOf,
  refuse,
  times,
  toResult,
  UNANSWERED,
} from './entry.ts'
import { type Authority, ask, inputBytes, type Job, type JobResult } from './job.ts'
import { Lanes } from './lanes.ts'
import type { LostReason, PoolOptions } from './pool-options.ts'
import { type AtWork, createSlots, isOverdue, type Sized, type Slot, type Slots } from './slots.ts'
import type { RunBatch } from './threads.ts'
import { createTurnPlaces, sampleTurn } from './turn-places.ts'
import { createWatch, type Look } from './watch.ts'

/** A job whose batch was lost through no fault of its own is tried again this often. */
const MAX_LOST = 2

const NO_THREADS: ReadonlySet<number> = new Set()

/**
 * Runs jobs on the worker threads.
 *
 * The typed façade over the worker threads: queue, micro-batches, time limit, replacement.
 */
export class WorkerPool {
  readonly #options: PoolOptions
  readonly #width: number
  readonly #slots: Slots
  readonly #releaseExit: () => void
  readonly #estimates = createEstimates()
  readonly #places = createTurnPlaces()
  readonly #waiting = new FairQueue<Entry>()
  readonly #lanes: Lanes
  /** The jobs that may go next, as `takeBatch` takes them. */
  readonly #next: Parameters<typeof takeBatch<Entry>>[0]
  readonly #isKnown = ({ sized }: AtWork) => this.#estimates.of(sized).isKnown
  readonly #flush = () => this.#sendBatches()
  readonly #watch = createWatch(now => this.#look(now))
  /** The threads that the next batch may go to. */
  #free = NO_THREADS
  #running = 0
  #isFlushing = false
  #isClosed = false

  constructor(options: PoolOptions) {
    const { threads, progress } = options
    this.#options = options
    this.#width = options.width ?? threads.size
    this.#slots = createSlots(progress)
    this.#releaseExit = holdExit(() => this.#slots.mayEnd())
    const waiting = this.#waiting
    const lanes = new Lanes({
      slots: this.#slots,
      waiting,
      width: this.#width,
      threads: threads.size,
      isKnown: this.#isKnown,
      maxWaitMs: () => options.limits().maxWaitMs,
      jobTimeoutMs: () => options.limits().jobTimeoutMs,
      canRepeat: ({ entries }) => (entries as readonly Entry[]).every(isWhole),
    })
    const mayBegin = (entry: Entry) => lanes.mayBegin(entry)
    const isNear = ({ near }: Entry) => near !== undefined && this.#free.has(near)
    this.#lanes = lanes
    this.#next = {
      get length() {
        return waiting.lengthOf('short')
      },
      peek: () => waiting.peek(mayBegin, isNear),
      take: () => {
        const entry = waiting.take(mayBegin, isNear)
        // Others in the same batch should be near the same thread.
        if (entry !== undefined && isNear(entry)) this.#free = new Set([entry.near!])
        return entry
      },
    }
  }

  /** Jobs that wait for a thread, and those that are on one. */
  get waiting() {
    return this.#waiting.length
  }

  get running() {
    return this.#running
  }

  /** Share of the threads' time that went into jobs lately, 0 to 1. */
  get utilization() {
    return this.#watch.utilization
  }

  /**
   * Milliseconds that one more job of the tenant would wait for a thread, by estimate. Without a
   * job: the milliseconds that all waiting jobs would take.
   */
  waitMs(job?: Sized): number {
    if (job === undefined) return this.#waiting.workUs / 1000 / this.#width
    return this.#lanes.waitMs({ tenant: job.tenant, kind: this.#estimates.of(job).kind })
  }

  /** One phase: the thread does everything. Never rejects for an expected failure. */
  run(job: Job): Promise<JobResult> {
    return this.#submit(job, 'whole', end => toResult(job, end, this.#options))
  }

  /** Two phases around one question; jobs without a question take one. */
  async runTwoPhase(job: Job, authority: Authority): Promise<JobResult> {
    const first = await this.#submit(job, 'ask', end => end)
    if (first.kind === 'failed' || first.outcome.kind !== 'ask')
      return toResult(job, first, this.#options)
    const { lookups, start, length } = first.outcome
    const resolutions = await ask(authority, lookups)
    if (resolutions === null) return { ok: false, problem: UNANSWERED, ...times(first) }
    const again = { ...job, body: first.bytes.subarray(start, start + length) }
    const finish = (end: End) => toResult(again, end, this.#options)
    const second = await this.#submit(again, 'finish', finish, resolutions)
    return { ...second, ...addFields(times(first), second) }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#watch.stop()
    const all = this.#waiting.remove(() => true)
    refuse(all, closing())
    await this.#slots.beforeEnd()
    await this.#options.threads.close()
    this.#releaseExit()
  }

  /** Queues a job for one phase; resolves to what `finish` makes of its end. */
  #submit<T>(
    job: Job,
    phase: Entry['phase'],
    finish: (end: End) => T,
    resolutions?: LookupResults,
  ): Promise<T> {
    const bytes = job.body.length + (resolutions === undefined ? 0 : inputBytes(resolutions))
    const sized = { tenant: job.tenant, op: job.op, bytes }
    const queuedAt = performance.now()
    const turn = job.isTurn ? sampleTurn(job.tenant, job.op, job.body) : undefined
    const near = turn && this.#places.find(turn)
    const { kind, costUs } = this.#estimates.of(sized)
    this.#lanes.see(job.tenant, queuedAt)
    return new Promise((resolve, reject) => {
      const entry: Entry = {
        job,
        phase,
        tenant: job.tenant,
        bytes,
        sized,
        limitMs: job.limitMs,
        kind,
        costUs,
        queuedAt,
        lost: 0,
        settle(end) {
          try {
            resolve(finish(end))
          } catch (bug) {
            reject(bug)
          }
        },
        ...(resolutions === undefined ? {} : { resolutions }),
        ...(turn !== undefined && { turn }),
        ...(near !== undefined && { near }),
      }
      if (this.#isClosed) return entry.settle(failed(entry, closing(), entry.queuedAt))
      this.#waiting.push(entry)
      this.#watch.start()
      this.#scheduleFlush()
    })
  }

  /** At the end of this turn of the event loop, so that jobs of one poll share a batch. */
  #scheduleFlush(): void {
    if (this.#isFlushing || this.#slots.inUse.size >= this.#options.threads.size) return
    this.#isFlushing = true
    setImmediate(this.#flush)
  }

  #sendBatches(): void {
    this.#isFlushing = false
    while (!this.#isClosed && this.#waiting.length > 0) {
      this.#free = this.#options.threads.free?.() ?? NO_THREADS
      const batch = takeBatch(this.#next, this.#lanes.free('short'), this.#isKnown)
      if (batch.length === 0) return
      const abandoned = batch.filter(isAbandoned)
      for (const entry of abandoned) this.#waiting.charge(entry, 0)
      refuse(abandoned, ABANDONED)
      const wanted = abandoned.length === 0 ? batch : batch.filter(entry => !isAbandoned(entry))
      if (wanted.length > 0) this.#send(wanted)
    }
  }

  #send(entries: readonly Entry[]): void {
    const options = this.#options
    const slot = this.#slots.take(entries, !this.#isKnown(entries[0]!))
    const startedAt = performance.now()
    this.#running += entries.length
    options.onBatch?.(entries.length)
    const message = messageOf(entries, slot.index, options.termsOf)
    const ahead = (job: number, keys: readonly string[]) => entries[job]?.job.onKeysAhead?.(keys)
    options.threads.run(message, slot.signal, { near: entries[0]!.near, ahead }).then(
      result => {
        this.#release(slot)
        this.#settle(entries, result, startedAt)
      },
      () => {
        // The slot shows which job it was only until it is released.
        const culprit = slot.current()
        const reason = slot.stopped ?? 'lost'
        this.#release(slot)
        if (!this.#isClosed) options.onThreadLost(reason)
        this.#recover(entries, culprit, reason, startedAt)
      },
    )
  }

  #release(slot: Slot): void {
    this.#running -= slot.entries.length
    slot.release()
    if (this.#waiting.length > 0) this.#scheduleFlush()
  }

  #settle(
    entries: readonly Entry[],
    { outcomes, body, thread }: RunBatch,
    startedAt: number,
  ): void {
    const bytes = new Uint8Array(body)
    const isAlone = entries.length === 1
    entries.forEach((entry, index) => {
      const outcome = outcomes[index] as JobOutcome
      this.#estimates.learn(entry.sized, outcome.work_us)
      this.#waiting.charge(entry, outcome.work_us)
      const { queuedAt, turn } = entry
      if (turn !== undefined && thread !== undefined) this.#places.note(turn, thread)
      entry.settle({ kind: 'outcome', outcome, bytes, isAlone, queuedAt, startedAt })
    })
  }

  /**
   * The running job fails with its code, or starts again as a long one if its thread was taken
   * back. The other jobs of the batch go to the head of the queue.
   */
  #recover(
    entries: readonly Entry[],
    culprit: number,
    reason: LostReason,
    startedAt: number,
  ): void {
    const isClosed = this.#isClosed
    const again: Entry[] = []
    const tookUs = (performance.now() - startedAt) * 1000
    entries.forEach((entry, index) => {
      if (index === culprit) {
        this.#waiting.charge(entry, tookUs)
        if (reason !== 'lost') this.#estimates.learn(entry.sized, tookUs)
      }
      if (reason === 'moved' && !isClosed) {
        if (index === culprit || this.#isLongNow(entry)) this.#waiting.push(this.#asLong(entry))
        else again.push(entry)
      } else if (index === culprit || !isWhole(entry) || isClosed || ++entry.lost > MAX_LOST) {
        entry.settle(failed(entry, lostProblem(reason, isClosed), startedAt))
      } else again.push(entry)
    })
    this.#waiting.putBack(again)
    if (this.#waiting.length > 0) this.#scheduleFlush()
  }

  #look(now: number): Look {
    const { jobTimeoutMs, queueTimeoutMs } = this.#options.limits()
    this.#slots.look(now, jobTimeoutMs)
    this.#learnFromLate()
    for (const slot of this.#lanes.inTheWay()) slot.stop('moved')
    const busy = Math.min(1, this.#slots.inUse.size / this.#width)
    if (this.#waiting.length === 0) return { busy, isIdle: this.#running === 0 }
    // A job that turned out long leaves its place to a short one.
    this.#scheduleFlush()
    const isExpired = (entry: Entry) => now - entry.queuedAt > queueTimeoutMs
    refuse(this.#waiting.remove(isExpired), EXPIRED)
    // Their places become free even while no thread does.
    refuse(this.#waiting.remove(isAbandoned), ABANDONED)
    return { busy, isIdle: false }
  }

  /** Corrects estimates at once by jobs that were estimated as short and run long. */
  #learnFromLate(): void {
    for (const slot of this.#slots.inUse) {
      const late = slot.entries[slot.current()]
      if (!isOverdue(slot) || late === undefined) continue
      this.#estimates.distrust(late.sized)
      const isOutdated = (entry: Entry) =>
        entry.tenant === late.tenant && entry.kind === 'short' && this.#isLongNow(entry)
      for (const entry of this.#waiting.remove(isOutdated)) this.#waiting.push(this.#asLong(entry))
    }
  }

  #isLongNow({ sized }: Entry): boolean {
    return this.#estimates.of(sized).kind === 'long'
  }

  #asLong(entry: Entry): Entry {
    return { ...entry, kind: 'long', costUs: this.#estimates.of(entry.sized).costUs }
  }
}
