import type { Outcome } from '../../workers/protocol.ts'
import { packRanges } from '../core/base/byte-ranges.ts'
import type { Problem } from '../core/base/errors.ts'
import { createFairQueue } from '../core/base/fair-queue.ts'
import type { LookupResults } from '../core/contract/lookup.ts'
import { BATCH_LIMITS, createEstimates, takeBatch } from './batching.ts'
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
  times,
  UNANSWERED,
} from './entry.ts'
import type { Authority, Job, JobResult } from './job.ts'
import { toResult } from './job-result.ts'
import { createLanes } from './lanes.ts'
import type { LostReason, PoolOptions } from './pool-options.ts'
import { ask, inputBytes } from './questions.ts'
import { type AtWork, createSlots, type Sized, type Slot } from './slots.ts'

/** Runs jobs on the worker threads. */
export interface WorkerPool {
  /** One phase: the thread does everything. Never rejects for an expected failure. */
  run(job: Job): Promise<JobResult>
  /** Two phases around one question; jobs without a question take one. */
  runTwoPhase(job: Job, authority: Authority): Promise<JobResult>
  /** Jobs that wait for a thread, and those that are on one. */
  readonly waiting: number
  readonly running: number
  /**
   * Milliseconds that one more job of the tenant would wait for a thread, by estimate; without one,
   * those that all that waits would take.
   */
  waitMs(job?: Sized): number
  /** Share of the threads' time that went into jobs lately, 0 to 1. */
  readonly utilization: number
  close(): Promise<void>
}

/** A job whose batch was lost through no fault of its own is tried again this often. */
const MAX_LOST = 2

/** How often running batches are looked at, in milliseconds: one timer for all jobs. */
const WATCH_MS = 50

/** Share of the newest look in the mean utilisation: a mean over about ten seconds. */
const UTILIZATION_WEIGHT = 0.005

/** The typed façade over the worker threads: queue, micro-batches, time limit, replacement. */
export function createPool(options: PoolOptions): WorkerPool {
  const { threads } = options
  const width = options.width ?? threads.size
  const slots = createSlots(options.progress)
  const estimates = createEstimates()
  const waiting = createFairQueue<Entry>()
  const lanes = createLanes({
    slots,
    waiting,
    width,
    threads: threads.size,
    isKnown,
    maxWaitMs: () => options.limits().maxWaitMs,
    jobTimeoutMs: () => options.limits().jobTimeoutMs,
    canRepeat: ({ entries }) => (entries as readonly Entry[]).every(isWhole),
  })
  function isKnown({ sized }: AtWork): boolean {
    return estimates.isKnown(sized)
  }

  let utilization = 0
  let running = 0
  let flushing = false
  let closed = false

  function enqueue(entry: Entry): void {
    waiting.push(entry)
    scheduleFlush()
  }

  /** At the end of this turn of the event loop, so that jobs of one poll share a batch. */
  function scheduleFlush(): void {
    if (flushing || slots.inUse.size >= threads.size) return
    flushing = true
    setImmediate(flush)
  }

  function flush(): void {
    flushing = false
    while (!closed) {
      const batch = nextBatch()
      if (batch.length === 0) return
      const abandoned = batch.filter(isAbandoned)
      for (const entry of abandoned) waiting.charge(entry, 0)
      refuse(abandoned, ABANDONED)
      const wanted = batch.filter(entry => !isAbandoned(entry))
      if (wanted.length > 0) send(wanted)
    }
  }

  function nextBatch(): Entry[] {
    if (waiting.length === 0) return []
    return takeBatch(
      {
        length: waiting.lengthOf('short'),
        peek: () => waiting.peek(lanes.mayBegin),
        take: () => waiting.take(lanes.mayBegin),
      },
      lanes.free('short'),
      isKnown,
    )
  }

  /** Those whose clients hung up, so that their places are free even while no thread is. */
  function dropAbandoned(): void {
    refuse(waiting.remove(isAbandoned), ABANDONED)
  }

  function expireWaiting(now: number): void {
    const { queueTimeoutMs } = options.limits()
    const expired = (entry: Entry) => now - entry.queuedAt > queueTimeoutMs
    refuse(waiting.remove(expired), EXPIRED)
  }

  function refuse(entries: readonly Entry[], problem: Problem): void {
    const now = performance.now()
    for (const entry of entries) entry.settle(failed(entry, problem, now))
  }

  function send(entries: readonly Entry[]): void {
    const slot = slots.take(entries)
    const startedAt = performance.now()
    const { body, starts } = packRanges(
      entries.map(({ job }) => job.body),
      entries.some(({ job, kind }) => job.retained || kind === 'short')
        ? Number.POSITIVE_INFINITY
        : BATCH_LIMITS.copyBytes,
    )
    const jobs = entries.map(({ job, phase, resolutions }, index) => ({
      op: job.op,
      tenant: job.tenant,
      media: job.media,
      accept: job.accept,
      start: starts[index] as number,
      length: job.body.length,
      phase,
      ...(resolutions === undefined ? {} : { resolutions }),
      ...(job.terms === undefined ? {} : { terms: job.terms }),
      ...(job.attempt === undefined ? {} : { attempt: job.attempt }),
      ...(job.recalled === undefined ? {} : { recalled: job.recalled }),
      ...(job.sessionless === true ? { sessionless: true as const } : {}),
    }))
    running += entries.length
    options.onBatch?.(entries.length)
    threads.run({ jobs, body, slot: slot.index }, slot.signal).then(
      result => {
        free(slot, entries)
        const bytes = new Uint8Array(result.body)
        entries.forEach((entry, index) => {
          const outcome = result.outcomes[index] as Outcome
          estimates.learn(entry.sized, outcome.work_us)
          waiting.charge(entry, outcome.work_us)
          entry.settle({ kind: 'outcome', outcome, bytes, queuedAt: entry.queuedAt, startedAt })
        })
      },
      () => {
        // Which job it was is known only as long as the slot is ours.
        const culprit = slot.current()
        const reason = slot.stopped ?? 'lost'
        free(slot, entries)
        if (!closed) options.onThreadLost(reason)
        recover(entries, culprit, reason, startedAt)
      },
    )
  }

  function free(slot: Slot, entries: readonly Entry[]): void {
    running -= entries.length
    slot.release()
    if (waiting.length > 0) scheduleFlush()
  }

  /**
   * The job that ran fails with its code, or starts again as a long one if its thread was taken
   * back; the others of the batch go to the head of the queue.
   */
  function recover(
    entries: readonly Entry[],
    culprit: number,
    reason: LostReason,
    startedAt: number,
  ): void {
    const again: Entry[] = []
    const tookUs = (performance.now() - startedAt) * 1000
    entries.forEach((entry, index) => {
      if (index === culprit) {
        waiting.charge(entry, tookUs)
        if (reason !== 'lost') estimates.learn(entry.sized, tookUs)
      }
      if (reason === 'moved' && !closed) {
        if (index === culprit || isLongNow(entry)) waiting.push(asLong(entry))
        else again.push(entry)
      } else if (index === culprit || !isWhole(entry) || closed || ++entry.lost > MAX_LOST) {
        entry.settle(failed(entry, lostProblem(reason, closed), startedAt))
      } else again.push(entry)
    })
    waiting.putBack(again)
    if (waiting.length > 0) scheduleFlush()
  }

  /** Jobs that were taken for short and run long say at once what such jobs take. */
  function learnFromLate(): void {
    for (const { kind, isLong, entries, current } of slots.inUse) {
      const late = entries[current()]
      if (kind === 'long' || !isLong || late === undefined) continue
      estimates.distrust(late.sized)
      const isOutdated = (entry: Entry) =>
        entry.tenant === late.tenant && entry.kind === 'short' && isLongNow(entry)
      for (const entry of waiting.remove(isOutdated)) waiting.push(asLong(entry))
    }
  }

  function isLongNow({ sized }: Entry): boolean {
    return estimates.kindOf(sized) === 'long'
  }

  function asLong(entry: Entry): Entry {
    return { ...entry, kind: 'long', costUs: estimates.costUs(entry.sized) }
  }

  const watch = setInterval(() => {
    const now = performance.now()
    slots.look(now, options.limits().jobTimeoutMs)
    learnFromLate()
    for (const slot of lanes.inTheWay()) slot.stop('moved')
    const share = Math.min(1, slots.inUse.size / width)
    utilization += UTILIZATION_WEIGHT * (share - utilization)
    if (waiting.length === 0) return
    // A job that turned out long leaves its place to a short one.
    scheduleFlush()
    expireWaiting(now)
    dropAbandoned()
  }, WATCH_MS)
  watch.unref()

  /** Queues a job for one phase; resolves to what `finish` makes of its end. */
  function submit<T>(
    job: Job,
    phase: Entry['phase'],
    finish: (end: End) => T,
    resolutions?: LookupResults,
    moreBytes = 0,
  ): Promise<T> {
    const bytes = job.body.length + moreBytes
    const sized = { tenant: job.tenant, op: job.op, bytes }
    const queuedAt = performance.now()
    lanes.see(job.tenant, queuedAt)
    return new Promise((resolve, reject) => {
      const entry: Entry = {
        job,
        phase,
        tenant: job.tenant,
        bytes,
        sized,
        limitMs: job.limitMs,
        kind: estimates.kindOf(sized),
        costUs: estimates.costUs(sized),
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
      }
      if (closed) entry.settle(failed(entry, closing(), entry.queuedAt))
      else enqueue(entry)
    })
  }

  return {
    get waiting() {
      return waiting.length
    },
    get running() {
      return running
    },
    get utilization() {
      return utilization
    },
    waitMs(job) {
      if (job === undefined) return waiting.workUs / 1000 / width
      const { tenant } = job
      return lanes.waitMs({ tenant, kind: estimates.kindOf(job) })
    },
    run: job => submit(job, 'whole', end => toResult(job, end, options.onBug)),
    async runTwoPhase(job, authority) {
      const first = await submit(job, 'ask', end => end)
      if (first.kind === 'failed' || first.outcome.kind !== 'ask')
        return toResult(job, first, options.onBug)
      const { lookups, start, length } = first.outcome
      const resolutions = await ask(authority, lookups)
      if (resolutions === null) return { ok: false, problem: UNANSWERED, ...times(first) }
      const body = first.bytes.subarray(start, start + length)
      const again = { ...job, body }
      const more = inputBytes(resolutions)
      const finish = (end: End) => toResult(again, end, options.onBug)
      const second = await submit(again, 'finish', finish, resolutions, more)
      const before = times(first)
      return {
        ...second,
        queue_ms: before.queue_ms + second.queue_ms,
        work_ms: before.work_ms + second.work_ms,
      }
    },
    async close() {
      closed = true
      clearInterval(watch)
      refuse(
        waiting.remove(() => true),
        closing(),
      )
      await threads.close()
    },
  }
}
