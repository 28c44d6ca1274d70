import type { KeepItem, OperationContext, Report } from './operation.ts'

/**
 * An operation on a body as it is, where others get what an envelope says: for bodies whose every byte matters. It takes
 * one phase.
 */
export interface ByteOperation {
  readonly kind: 'bytes'
  readonly name: string
  /** Must not change `body`. Throws `AppError` for expected failures. */
  run(body: Uint8Array, context: OperationContext): ByteAnswer
}

export interface ByteAnswer {
  /** What stands for the body; `null` where it stays as it is. */
  readonly bytes: Uint8Array | null
  readonly reports: readonly Report[]
  /** What it was decided by for the first time: if another decision is on record, that one holds, and the job is run again. */
  readonly records: readonly FreshRecord[]
  /** Must be durably kept before it may leave. */
  readonly keep: readonly KeepItem[]
  /** Originals that its markers name, 24 hex digits each: they must be there, and be prolonged, before it may. */
  readonly markers: readonly string[]
}

/** A decision that holds for good once it has left. */
export interface FreshRecord {
  /** 64 hex digits. */
  readonly key: string
  readonly bytes: Uint8Array
  /** Where the shared memory has it, to be confirmed; `null`: nowhere. */
  readonly position: number | null
  /** It takes the place of another one, which could not be kept to. */
  readonly replaces?: true
}
