import type { TextBytes } from '../base/text-bytes.ts'
import type { Dependency } from '../sessions/turn/dependency.ts'
import type { KeptForSession } from '../sessions/turn/remember.ts'
import type { Report } from './report.ts'

/** An answer and the reports on it (several for a batch). */
export interface Done<Answer> {
  readonly answer: Answer
  readonly reports: readonly Report[]
  /** What must be kept durably before the answer may leave. */
  readonly keep?: readonly KeepItem[]
  /** What must be there, with its life prolonged, before the answer may leave. */
  readonly dependencies?: readonly Dependency[]
}

/** A text to keep, for a session if it names one. */
export type KeepItem = TextBytes & Partial<Pick<KeptForSession, 'session' | 'ref' | 'ticket'>>

/** What an operation on bytes gives. */
export interface ByteAnswer {
  /** What replaces the body; `null` if it stays unchanged. */
  readonly bytes: Uint8Array | null
  readonly reports: readonly Report[]
  /**
   * Decisions that were made for the first time. If the store has another decision for a key, that
   * one holds, and the job runs again.
   */
  readonly records: readonly FreshRecord[]
  /** Must be durably kept before it may leave. */
  readonly keep: readonly KeepItem[]
  /**
   * Originals that its markers name, 24 hex digits each: they must be kept, and prolonged, first.
   */
  readonly markers: readonly string[]
}

/** A decision that holds for good once it has left. */
export interface FreshRecord {
  /** 64 hex digits. */
  readonly key: string
  readonly bytes: Uint8Array
  /** Where the shared memory has it, to be confirmed; `null`: nowhere. */
  readonly position: number | null
  /** It replaces an earlier record, which could not be followed. */
  readonly replaces?: true
}
