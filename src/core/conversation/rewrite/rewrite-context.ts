import type { RequestTerms } from '../../contract/request-terms.ts'
import type { PipelineContext } from '../../pipeline/read-input.ts'
import type { HistoryMemory } from './history.ts'
import type { RewriteMemory } from './rewrite-memory.ts'
import type { TurnMemory } from './turn-memory.ts'

/** What rewriting a conversation uses beside the pipeline. */
export interface ConversationContext extends PipelineContext {
  /** What was sent for tool results before, for requests that bring them again. */
  readonly rewrites?: RewriteContext
  /** What the request states beside the body; absent if the route does not ask. */
  readonly terms?: RequestTerms
}

/** Whose conversations are rewritten, and how they were. */
export interface RewriteContext {
  readonly tenant: string
  readonly memory: RewriteMemory
  /** For what the turn before has at the same place; absent: everything is read again. */
  readonly turns?: TurnMemory
  /** For references to earlier results of the same request; absent: there are none. */
  readonly history?: HistoryMemory
  /** Recorded decisions by their keys; they hold against any other. */
  readonly recalled: Readonly<Record<string, Uint8Array>>
}
