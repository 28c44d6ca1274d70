import type { Fault } from '../core/base/attempt.ts'
import type { TenantTerms } from './job.ts'
import type { StopReason } from './slots.ts'
import type { Threads } from './threads.ts'

export interface PoolOptions {
  readonly threads: Threads
  /** The buffer that was given to the threads as `setup.progress`. */
  readonly progress: SharedArrayBuffer
  /**
   * Jobs that run at once; absent: as many as threads. A thread beyond that is kept for the kind of
   * jobs, short or long, of which none runs.
   */
  readonly width?: number
  /** Asked each time, because a reload may change them. */
  limits(): PoolLimits
  /** Asked for each message; absent: there is one configuration, which is in force. */
  termsOf?(tenant: string, project?: string): TenantTerms
  /** Gets bugs in jobs, with the request id; never shown to clients. */
  onBug(requestId: string, bug: string): void
  /** Gets each candidate that was declined because its format threw. */
  onFault?(requestId: string, fault: Fault): void
  /** Gets the number of jobs of each message. */
  onBatch?(jobs: number): void
  /** Called for each thread that was lost or stopped. */
  onThreadLost(reason: LostReason): void
}

/** Why a thread was replaced; `moved`: a short job ran long while others waited for it. */
export type LostReason = 'lost' | StopReason

export interface PoolLimits {
  /** A job that runs longer is stopped by replacing its thread. */
  readonly jobTimeoutMs: number
  /** A job that waits longer for a thread is refused. */
  readonly queueTimeoutMs: number
  /** How long jobs may be made to wait. Longer jobs of one tenant never get all threads. */
  readonly maxWaitMs: number
}
