import type { BatchMessage, JobOutcome, KeepRange, Range } from '../../workers/protocol.ts'
import { freeBytes, isDetached, packRanges } from '../core/base/byte-ranges.ts'
import type { Problem } from '../core/base/errors.ts'
import type { LookupResults } from '../core/contract/lookup.ts'
import { BATCH_LIMITS } from './batching.ts'
import type { Job, JobResult, TenantTerms } from './job.ts'
import type { PoolOptions } from './pool-options.ts'
import type { AtWork } from './slots.ts'
import type { TurnSamples } from './turn-places.ts'

/** A job on its way, possibly for the second time. */
export interface Entry extends AtWork {
  readonly job: Job
  readonly phase: 'whole' | 'ask' | 'finish'
  readonly resolutions?: LookupResults
  /** The length is kept, because a body that was transferred has none. */
  readonly bytes: number
  /** Present if it is a turn of a conversation. */
  readonly turn?: TurnSamples
  /** The thread that had the turn before, by its id. */
  readonly near?: number
  /** Times that its batch was lost before its turn came. */
  lost: number
  settle(end: End): void
}

/** How a phase of a job ended, and when it was queued and sent, by `performance.now()`. */
export type End = { readonly queuedAt: number; readonly startedAt: number } & (
  | { readonly kind: 'failed'; readonly problem: Problem }
  | {
      readonly kind: 'outcome'
      readonly outcome: JobOutcome
      readonly bytes: Uint8Array
      /** Whether the bytes are of this job only. */
      readonly isAlone: boolean
    }
)

/** Why a job may end before it ran. */
export const EXPIRED: Problem = {
  code: 'overloaded',
  detail: 'no thread was free in time',
  retry_after_s: 1,
}

export const ABANDONED: Problem = { code: 'overloaded', detail: 'the client hung up' }

export const UNANSWERED: Problem = {
  code: 'overloaded',
  detail: 'the authority over sessions does not answer',
  retry_after_s: 1,
}

/** The end of a job that failed by our fault, not the client's. */
export function failed({ queuedAt }: Entry, problem: Problem, startedAt: number): End {
  return { kind: 'failed', problem, queuedAt, startedAt }
}

/** Milliseconds in the queue and at work. */
export function times(end: End) {
  return {
    queue_ms: end.startedAt - end.queuedAt,
    work_ms:
      end.kind === 'outcome' ? end.outcome.work_us / 1000 : performance.now() - end.startedAt,
  }
}

/** The problem with which the current job of a lost thread fails. */
export function lostProblem(reason: string, closed: boolean): Problem {
  if (closed) return closing()
  return reason === 'timeout'
    ? { code: 'timeout', detail: 'the job ran into its time limit and was stopped' }
    : { code: 'worker_lost', detail: 'the worker that ran the job was lost', retry_after_s: 1 }
}

export function closing(): Problem {
  return { code: 'overloaded', detail: 'the service is shutting down', retry_after_s: 1 }
}

/** Whether its client is gone. */
export function isAbandoned({ job }: Entry): boolean {
  return job.abandoned?.() === true
}

/** Whether its body is still here and was not transferred to a thread. */
export function isWhole({ job }: Entry): boolean {
  return !isDetached(job.body)
}

/** Ends jobs that were not sent. */
export function refuse(entries: readonly Entry[], problem: Problem): void {
  const now = performance.now()
  for (const entry of entries) entry.settle(failed(entry, problem, now))
}

/** What a thread gets for a batch. Bodies that may be needed once more are copied to it. */
export function messageOf(
  entries: readonly Entry[],
  slot: number,
  termsOf: (tenant: string, project?: string) => TenantTerms = () => NO_TERMS,
): BatchMessage {
  const isCopied = entries.some(({ job, kind }) => job.retained || kind === 'short')
  const { body, starts } = packRanges(
    entries.map(({ job }) => job.body),
    isCopied ? Number.POSITIVE_INFINITY : BATCH_LIMITS.copyBytes,
  )
  const generations: Record<string, SharedArrayBuffer> = {}
  const terms = entries.map(({ job }) => {
    const { generation, isPaused = job.isPaused } = termsOf(job.tenant, job.project)
    for (const each of [generation, job.kept]) if (each) generations[each.id] = each.bytes
    return { ...(generation && { generation: generation.id }), ...(isPaused && { isPaused }) }
  })
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
    ...(job.lostGeneration === undefined ? {} : { lostGeneration: job.lostGeneration }),
    ...terms[index],
  }))
  const isAny = Object.keys(generations).length > 0
  return { jobs, body, slot, ...(isAny && { generations }) }
}

const NO_TERMS: TenantTerms = {}

/**
 * The result of a job for its caller.
 * @param hear is told of bugs, and of formats that threw
 */
export function toResult(
  job: Job,
  end: End,
  hear: Pick<PoolOptions, 'onBug' | 'onFault'>,
): JobResult {
  if (end.kind === 'failed') return { ok: false, problem: end.problem, ...times(end) }
  const { outcome, bytes, isAlone } = end
  for (const fault of outcome.faults ?? []) hear.onFault?.(job.requestId, fault)
  if (outcome.kind === 'failed') {
    if (outcome.bug !== undefined) hear.onBug(job.requestId, outcome.bug)
    return { ok: false, problem: outcome.problem, ...times(end) }
  }
  if (outcome.kind === 'ask') throw new Error('a question came back from a phase that has none')
  const { media, reports, dependencies, markers, changes, again } = outcome
  const part = (range: Range) => bytes.subarray(range.start, range.start + range.length)
  const item = <T extends Range>({ start, length, ...rest }: T) => {
    return { ...rest, bytes: part({ start, length }) }
  }
  const text = ({ compressed, ...range }: KeepRange) => {
    return { ...item(range), ...(compressed && { compressed: part(compressed) }) }
  }
  const kept = { keep: outcome.keep.map(text), records: outcome.records.map(item) }
  const rest = again === undefined ? {} : { again: part(again) }
  return {
    ok: true,
    media,
    body: part(outcome),
    reports,
    dependencies,
    markers,
    ...(changes === undefined ? {} : { changes }),
    ...kept,
    ...rest,
    ...(isAlone && { free: () => freeBytes(bytes) }),
    ...times(end),
  }
}
