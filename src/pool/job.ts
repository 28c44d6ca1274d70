import type { JobHeader, JobOutcome } from '../../workers/protocol.ts'
import type { Problem } from '../core/base/errors.ts'
import type { LookupRequest, LookupResults } from '../core/contract/lookup.ts'
import type { FreshRecord, KeepItem } from '../core/contract/operation-result.ts'

type DoneOutcome = Extract<JobOutcome, { kind: 'done' }>

/** One request for the workers. The pool owns `body` from then on, and may detach it. */
export interface Job
  extends Pick<
    JobHeader,
    | ('op' | 'tenant' | 'media' | 'accept' | 'terms' | 'attempt' | 'recalled')
    | ('sessionless' | 'isPaused' | 'lostGeneration')
  > {
  /** The project whose configuration it gets, if the tenant has one of that name. */
  readonly project?: string
  readonly body: Uint8Array
  /** The caller needs the body afterwards: it is copied to the thread, whatever its size. */
  readonly retained?: true
  /** A turn of a conversation: it costs least on the thread that had the turn before. */
  readonly isTurn?: true
  readonly requestId: string
  /**
   * If it runs longer than this, in milliseconds, its thread is replaced. It is below the limit of
   * all jobs.
   */
  readonly limitMs?: number
  /** The generation that its conversation keeps, beside the tenant's newest. */
  readonly kept?: Generation
  /**
   * Whether the client is gone; asked before the job gets a thread. This is not an AbortSignal,
   * because making one for each request costs more than everything else that the queue does with
   * it.
   */
  readonly abandoned?: () => boolean
  /** Gets keys of decisions that the job is about to make, while it runs; perhaps never. */
  readonly onKeysAhead?: (keys: readonly string[]) => void
}

/** A configuration of the pipeline. */
export interface Generation {
  /** 16 hex digits. */
  readonly id: string
  /** As JSON in UTF-8. */
  readonly bytes: SharedArrayBuffer
}

/** What the configuration says of a tenant's jobs. */
export interface TenantTerms {
  /** The newest; absent: the one that the threads were started with. */
  readonly generation?: Generation
  /** Nothing new is rewritten; absent: results are. */
  readonly isPaused?: true
}

/** Where the time went, in milliseconds. */
export interface JobTimes {
  readonly queue_ms: number
  readonly work_ms: number
}

/** The end of a job. Expected failures are values. */
export type JobResult = JobTimes &
  (
    | (Pick<DoneOutcome, 'media' | 'reports' | 'markers' | 'dependencies' | 'changes'> & {
        readonly ok: true
        /** Empty if an operation on bytes changed nothing. */
        readonly body: Uint8Array
        /** Must be durably kept before the answer leaves. */
        readonly keep: readonly KeepItem[]
        /** Decisions that were made for the first time. */
        readonly records: readonly FreshRecord[]
        /** The request's body, if it may be needed once more. */
        readonly again?: Uint8Array
        /**
         * Frees the memory of all of these bytes, which must not be used any more. Absent: they
         * share it with other jobs.
         */
        readonly free?: () => void
      })
    | { readonly ok: false; readonly problem: Problem }
  )

/** A job that has an answer. */
export type Done = JobResult & { readonly ok: true }

/**
 * Answers the lookups of a job between its phases: the store for kept inputs, and Redis for
 * sessions that several replicas share. It is asked once for each request that has lookups. Entries
 * of its answer correspond to the lookups.
 */
export interface Authority {
  resolve(lookups: readonly (LookupRequest | null)[]): Promise<LookupResults>
}

/** The authority's answers, or `null` if it gave none. */
export async function ask(
  authority: Authority,
  lookups: readonly (LookupRequest | null)[],
): Promise<LookupResults | null> {
  try {
    const resolutions = await authority.resolve(lookups)
    return resolutions.length === lookups.length ? resolutions : null
  } catch {
    // The authority is another process, so its loss is not a bug of ours.
    return null
  }
}

/**
 * Bytes of the inputs that contents refer to. They count as work, as if they had come in the body.
 */
export function inputBytes(resolutions: LookupResults): number {
  return resolutions.reduce((sum, resolution) => sum + (resolution?.input?.bytes.length ?? 0), 0)
}
