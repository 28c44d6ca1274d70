import { inTime } from '../../core/base/deadline.ts'
import type { Job, JobResult } from '../../pool/job.ts'
import type { WaitBounds } from '../../store/values/outage-waits.ts'

/** One pass over a body. */
export interface Pass {
  /** For its job once that has a thread. */
  readonly limitMs: number
  /** See `RequestTerms`. */
  readonly newUntil: number
  /**
   * Bounds of its waits for a store. It is over if its result comes too late, or the client is
   * gone.
   */
  readonly bounds: WaitBounds
  /** How the jobs of a run differ from those of others. */
  readonly job?: Pick<Job, 'onKeysAhead'> | undefined
}

interface PassOptions {
  /** For what is new, waiting included. */
  readonly timeoutMs: number
  /** Whether the client is gone. */
  isGone(): boolean
}

/** Shares of the time limit: for results that are new, and for the pass that writes them. */
const NEW_SHARE = 0.6
const FIRST_SHARE = 0.8
/** Time for both passes, in time limits: a lost prompt cache costs more than a late turn. */
const ALL_SHARE = 6

/** How long a rewrite may take in all, in milliseconds. */
export function wholeTimeMs(timeoutMs: number): number {
  return timeoutMs * ALL_SHARE
}

/**
 * Runs a rewrite that may write new results, and, if that fails or takes too long, one that only
 * repeats what is recorded. So a conversation's prefix stays although there is no time.
 * @returns `null` if both together take six times the limit
 */
export async function runPasses(
  run: (pass: Pass) => Promise<JobResult>,
  { timeoutMs, isGone }: PassOptions,
): Promise<JobResult | null> {
  async function runInTime(wholeMs: number, newUntil: number): Promise<JobResult | null> {
    let isLate = false
    // One limit is left to use what is heard in the end.
    const untilMs = performance.now() + Math.max(timeoutMs, wholeMs - timeoutMs)
    const bounds = { untilMs, isOver: () => isLate || isGone() }
    const pass = { limitMs: Math.min(wholeMs, timeoutMs), newUntil, bounds }
    const result = await inTime(run(pass), wholeMs)
    isLate = result === null
    return result
  }
  const began = Date.now()
  const first = await runInTime(timeoutMs * FIRST_SHARE, began + timeoutMs * NEW_SHARE)
  const isDone = first !== null && (first.ok || first.problem.code === 'overloaded')
  if (isDone || isGone()) return first
  return runInTime(Math.max(1, began + wholeTimeMs(timeoutMs) - Date.now()), 0)
}
