import type { OperationContext, Report } from './operation.ts'

/**
 * An operation on a body as it is, where others get what an envelope says: for bodies whose every byte matters. It takes
 * one phase and keeps nothing.
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
}
