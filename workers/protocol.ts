/**
 * The worker protocol. One message carries a batch of jobs, and one message comes back. The bodies
 * of a message are concatenated in one ArrayBuffer, which is transferred. Cloning a view would copy
 * all of its buffer, and a transfer costs the same for one body as for thirty.
 */

import type { Fault } from '../src/core/base/attempt.ts'
import type { Problem } from '../src/core/base/errors.ts'
import type { MediaType } from '../src/core/contract/envelope.ts'
import type { EnvelopeLimits } from '../src/core/contract/envelope-guard.ts'
import type { LookupRequest, LookupResults, LookupSources } from '../src/core/contract/lookup.ts'
import type { FreshRecord, KeepItem, SentReport } from '../src/core/contract/operation-result.ts'
import type { RequestTerms } from '../src/core/contract/request-terms.ts'
import type { PipelineConfig } from '../src/core/pipeline/profile/pipeline-config.ts'
import type { SessionChanges } from '../src/core/sessions/journal/changes.ts'
import type { Dependency } from '../src/core/sessions/turn/call-memory.ts'
import type { SharedSessions } from '../src/core/sessions/turn/shared-sessions.ts'
import type { Vocabularies } from '../src/core/tokens/vocabulary.ts'

/** Given to every worker thread at its start (`workerData`). */
export interface WorkerSetup {
  readonly vocabularies: Vocabularies
  readonly limits: WorkerLimits
  /** How the pipeline chooses for jobs that name no generation. */
  readonly pipeline: PipelineConfig
  /** The generation of that configuration; absent: it has none, and nothing is kept with it. */
  readonly generation?: string
  /** Sources that can be asked between the phases of a job. */
  readonly asked: LookupSources
  /**
   * Sizes of texts that the thread compresses for the store, because its calls are made on the main
   * thread; absent: none.
   */
  readonly compressed?: { readonly fromBytes: number; readonly toBytes: number }
  /** What sessions have seen lately; absent: sessions have no effect. */
  readonly sessions?: SharedSessions
  /** Whether telemetry is on. */
  readonly hasTelemetry?: boolean
  /** Whether reports have the texts of results, for the ledger. */
  readonly keepsTexts?: boolean
  /** A body memory for what proxies have written lately. */
  readonly rewrites: SharedArrayBuffer
  /**
   * Conversations of which the thread remembers the lines, in some 4 MiB each, and the last turn.
   */
  readonly conversations: number
  /** Int32 slots; `BatchMessage.slot` names the one to write the index of the running job to. */
  readonly progress: SharedArrayBuffer
}

export interface WorkerLimits {
  readonly envelope: EnvelopeLimits
  /** Deepest nesting of JSON content that is parsed; deeper content passes through. */
  readonly contentDepth: number
  /** Longest decoded content, in UTF-16 code units. */
  readonly decodedChars: number
}

/** What to do with a body; its bytes are `body[start, start + length)` of the message. */
export interface JobHeader {
  readonly op: string
  /** Whose job it is: tenants that wait get equal parts of the threads. */
  readonly tenant: string
  readonly media: MediaType
  readonly accept: MediaType
  readonly start: number
  readonly length: number
  /**
   * `whole`: one phase. `ask`: stop with `LookupRequest` if the operation has a question, else
   * finish at once. `finish`: the second phase, with the answers.
   */
  readonly phase: 'whole' | 'ask' | 'finish'
  readonly resolutions?: LookupResults
  /** What the request states beside its body, if its operation asks. */
  readonly terms?: RequestTerms
  /** Names the job, also when it is run again. See `SessionContext.attempt`. */
  readonly attempt?: string
  /** Recorded decisions, by their keys. They take precedence over the job's own. */
  readonly recalled?: Readonly<Record<string, Uint8Array>>
  /** Answer without the session: nothing can be kept now, or a dependency of the answer is gone. */
  readonly sessionless?: true
  /** The newest generation of its tenant; absent: that of the setup. */
  readonly generation?: string
  /** A generation that a conversation keeps and nothing has any more. */
  readonly lostGeneration?: string
  /** Nothing new is rewritten, whatever holds for its tenant. */
  readonly isPaused?: true
}

export interface BatchMessage {
  readonly jobs: readonly JobHeader[]
  readonly body: ArrayBuffer
  readonly slot: number
  /**
   * Configurations by generation, as JSON in UTF-8, in memory that is shared and not copied. A
   * thread reads each once.
   */
  readonly generations?: Readonly<Record<string, SharedArrayBuffer>>
}

/** The end of a job; byte ranges are of the result's `body`. */
export type JobOutcome = {
  readonly work_us: number
  /** Formats that threw; absent: none did. */
  readonly faults?: readonly Fault[]
} & (
  | {
      readonly kind: 'done'
      readonly media: MediaType
      readonly start: number
      readonly length: number
      readonly reports: readonly SentReport[]
      /** What must be kept before the answer leaves, as ranges too. */
      readonly keep: readonly KeepRange[]
      /** Decisions that were made for the first time, as ranges too. */
      readonly records: readonly RecordRange[]
      /** Originals that markers name, which must be there and be prolonged too. */
      readonly markers: readonly string[]
      /** Bodies that must be there, and be prolonged, before the answer may leave. */
      readonly dependencies: readonly Dependency[]
      /** What the job changed in sessions that other processes share; absent: nothing. */
      readonly changes?: readonly SessionChanges[]
      /**
       * The request body again, if another answer may be needed: see `JobHeader.sessionless`.
       */
      readonly again?: { readonly start: number; readonly length: number }
    }
  /** The job has lookups. The range is the request body again, for the second phase. */
  | {
      readonly kind: 'ask'
      readonly lookups: readonly (LookupRequest | null)[]
      readonly start: number
      readonly length: number
    }
  /** `bug` is for our log only. */
  | { readonly kind: 'failed'; readonly problem: Problem; readonly bug?: string }
)

/** Bytes of the result's `body`. */
export interface Range {
  readonly start: number
  readonly length: number
}

export interface KeepRange extends Omit<KeepItem, 'bytes' | 'compressed'>, Range {
  readonly compressed?: Range
}

export interface RecordRange extends Omit<FreshRecord, 'bytes'>, Range {}

export interface BatchResult {
  readonly outcomes: readonly JobOutcome[]
  readonly body: ArrayBuffer
  /** The id of the thread, if its heap has grown beyond what ordinary work takes. */
  readonly grownThread?: number
}

/**
 * Sent while a job runs: keys of decisions that it is about to make. Whether there are records of
 * them can be looked up meanwhile. It is a hint, and may come after the result.
 */
export interface KeysAhead {
  readonly slot: number
  /** The index of the job in its batch. */
  readonly job: number
  readonly keysAhead: readonly string[]
}

/** Asks the thread with this id to give free memory back; any other thread does nothing. */
export interface ShrinkMessage {
  readonly shrinkThread: number
}

export interface ShrinkResult {
  readonly isShrunk: boolean
}
