import type { z } from 'zod'
import type { LookupRequest, LookupSources } from '../contract/lookup.ts'
import type { ByteAnswer, Done } from '../contract/operation-result.ts'
import type { ConversationContext } from '../conversation/rewrite/rewrite-context.ts'

/** The context of an operation. Everything in it belongs to the thread that runs it. */
export type OperationContext = ConversationContext

/**
 * One thing that the service does: a name, the schemas of both sides, and a pure function between
 * them. A new operation is one file with one of these, a row in `registry.ts` and a route.
 */
export interface Operation<Request = unknown, Answer = unknown> {
  readonly name: string
  /**
   * Whether JSON numbers that the answer repeats keep their spelling: see `parseKeepingSpelling`.
   */
  readonly keepsSpelling?: true
  readonly request: z.ZodType<Request>
  readonly answer: z.ZodType<Answer>
  /** The lookups before `run`, one entry for each job; `null` if there are none. */
  lookups?(request: Request, sources: LookupSources): readonly (LookupRequest | null)[]
  /** Throws `AppError` for expected failures. */
  run(request: Request, context: OperationContext): Done<Answer>
}

/**
 * An operation on a body without an envelope: for bodies whose every byte matters. It takes one
 * phase.
 */
export interface ByteOperation {
  readonly kind: 'bytes'
  readonly name: string
  /** Must not change `body`. Throws `AppError` for expected failures. */
  run(body: Uint8Array, context: OperationContext): ByteAnswer
}
