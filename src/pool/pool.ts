import type { Outcome } from '../../workers/protocol.ts'
import type { Facts, Resolutions } from '../core/operations/operation.ts'
import { createFairQueue } from '../core/scheduling/fair-queue.ts'
import { isDetached, packRanges } from '../core/transport/ranges.ts'
import type { Problem } from '../errors.ts'
import { BATCH_LIMITS, createBatching, takeBatch } from './batching.ts'
import {
  ABANDONED,
  closing,
  type End,
  type Entry,
  EXPIRED,
  failed,
  isAbandoned,
  lostProblem,
  times,
  UNANSWERED,
} from './entry.ts'
import type { Authority, Job, JobResult } from './job.ts'
import { createSlots, type Slot } from './slots.ts'
import type { Threads } from './threads.ts'

export interface PoolOptions {
  readonly threads: Threads
  /** The buffer that was given to the threads as `setup.progress`. */
  readonly progress: SharedArrayBuffer
  /** Asked each time, because a reload may change them. */
  limits(): PoolLimits
  /** Told about bugs in jobs, with the request id; never shown to clients. */
  onBug(requestId: string, bug: string): void
  /** Told the number of jobs of each message. */
  onBatch?(jobs: number): void
  /** Told about each thread that was lost or stopped. */
  onThreadLost(reason: 'lost' | 'timeout'): void
}

export interface PoolLimits {
  /** A job that runs longer is stopped by replacing its thread. */
  readonly jobTimeoutMs: number
  /** A job that waits longer for a thread is refused. */
  readonly queueTimeoutMs: number
}

/** Runs jobs on the worker threads. */
export interface WorkerPool {
  /** One phase: the thread does everything. Never rejects for an expected failure. */
  run(job: Job): Promise<JobResult>
  /** Two phases around one question; jobs without a question take one. */
  runTwoPhase(job: Job, authority: Authority): Promise<JobResult>
  /** Jobs that wait for a thread, and those that are on one. */
  readonly waiting: number
  readonly running: number
  /** Milliseconds that one more job of the tenant, or of any, would wait for a thread, by estimate. */
  waitMs(tenant?: string): number
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
  const slots = createSlots(options.progress, threads.size)
  const batching = createBatching()
  const waiting = createFairQueue<Entry>()
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
    if (flushing || slots.free === 0) return
    flushing = true
    setImmediate(flush)
  }

  function flush(): void {
    flushing = false
    while (waiting.length > 0 && slots.free > 0 && !closed) {
      const batch = takeBatch(waiting, slots.free)
      const abandoned = batch.filter(isAbandoned)
      for (const entry of abandoned) waiting.charge(entry, 0)
      refuse(abandoned, ABANDONED)
      const wanted = batch.filter(entry => !isAbandoned(entry))
      if (wanted.length > 0) send(wanted)
    }
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
    const slot = slots.take(index => entries[index]?.job.limitMs)
    const startedAt = performance.now()
    const { body, starts } = packRanges(
      entries.map(({ job }) => job.body),
      entries.some(({ job }) => job.retained) ? Number.POSITIVE_INFINITY : BATCH_LIMITS.copyBytes,
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
          batching.learn(entry.job.op, entry.bytes, outcome.work_us)
          waiting.charge(entry, outcome.work_us)
          entry.settle({ kind: 'outcome', outcome, bytes, queuedAt: entry.queuedAt, startedAt })
        })
      },
      () => {
        // Which job it was is known only as long as the slot is ours.
        const culprit = slot.current()
        const reason = slot.timedOut ? 'timeout' : 'lost'
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

  /** The job that ran fails with its code; the others of the batch go to the head of the queue. */
  function recover(
    entries: readonly Entry[],
    culprit: number,
    reason: 'timeout' | 'lost',
    startedAt: number,
  ): void {
    const again: Entry[] = []
    const tookUs = (performance.now() - startedAt) * 1000
    entries.forEach((entry, index) => {
      if (index === culprit) waiting.charge(entry, tookUs)
      if (index === culprit || isDetached(entry.job.body) || closed || ++entry.lost > MAX_LOST) {
        entry.settle(failed(entry, lostProblem(reason, closed), startedAt))
      } else again.push(entry)
    })
    waiting.putBack(again)
    if (waiting.length > 0) scheduleFlush()
  }

  const watch = setInterval(() => {
    const now = performance.now()
    slots.stopLate(now, options.limits().jobTimeoutMs)
    utilization += UTILIZATION_WEIGHT * ((threads.size - slots.free) / threads.size - utilization)
    if (waiting.length === 0) return
    expireWaiting(now)
    dropAbandoned()
  }, WATCH_MS)
  watch.unref()

  /** Queues a job for one phase; resolves to what `finish` makes of its end. */
  function submit<T>(
    job: Job,
    phase: Entry['phase'],
    finish: (end: End) => T,
    resolutions?: Resolutions,
    moreBytes = 0,
  ): Promise<T> {
    const bytes = job.body.length + moreBytes
    return new Promise((resolve, reject) => {
      const entry: Entry = {
        job,
        phase,
        tenant: job.tenant,
        bytes,
        costUs: batching.estimateUs(job.op, bytes),
        queuedAt: performance.now(),
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
    waitMs(tenant) {
      if (tenant === undefined) return waiting.workUs / 1000 / threads.size
      // The next free threads are theirs; that a few large jobs wait is no overload.
      if (waiting.waitingOf(tenant) < threads.size) return 0
      return waiting.workAheadUs(tenant) / 1000 / threads.size
    },
    run: job => submit(job, 'whole', end => toResult(job, end)),
    async runTwoPhase(job, authority) {
      const first = await submit(job, 'ask', end => end)
      if (first.kind === 'failed' || first.outcome.kind !== 'ask') return toResult(job, first)
      const { facts, start, length } = first.outcome
      const resolutions = await ask(authority, facts)
      if (resolutions === null) return { ok: false, problem: UNANSWERED, ...times(first) }
      const body = first.bytes.subarray(start, start + length)
      const again = { ...job, body }
      const more = inputBytes(resolutions)
      const second = await submit(again, 'finish', end => toResult(again, end), resolutions, more)
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

  function toResult(job: Job, end: End): JobResult {
    if (end.kind === 'failed') return { ok: false, problem: end.problem, ...times(end) }
    const { outcome, bytes } = end
    if (outcome.kind === 'failed') {
      if (outcome.bug !== undefined) options.onBug(job.requestId, outcome.bug)
      return { ok: false, problem: outcome.problem, ...times(end) }
    }
    if (outcome.kind === 'ask') throw new Error('a question came back from a phase that has none')
    const { media, reports, rely, markers, again } = outcome
    const part = (range: { readonly start: number; readonly length: number }) =>
      bytes.subarray(range.start, range.start + range.length)
    const item = <T extends Parameters<typeof part>[0]>({ start, length, ...rest }: T) => {
      return { ...rest, bytes: part({ start, length }) }
    }
    const kept = { keep: outcome.keep.map(item), records: outcome.records.map(item) }
    const rest = again === undefined ? {} : { again: part(again) }
    return {
      ok: true,
      media,
      body: part(outcome),
      reports,
      rely,
      markers,
      ...kept,
      ...rest,
      ...times(end),
    }
  }
}

/** The authority's answers, or `null` where it gave none. */
async function ask(
  authority: Authority,
  facts: readonly (Facts | null)[],
): Promise<Resolutions | null> {
  try {
    const resolutions = await authority.resolve(facts)
    return resolutions.length === facts.length ? resolutions : null
  } catch {
    // It lives in another process: that it is lost is no bug of ours.
    return null
  }
}

/** Bytes of the inputs that stand for contents: work, as if they had come in the body. */
function inputBytes(resolutions: Resolutions): number {
  return resolutions.reduce((sum, resolution) => sum + (resolution?.input?.bytes.length ?? 0), 0)
}
