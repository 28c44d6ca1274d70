import type { RequestTerms } from '../../contract/request-terms.ts'
import type { PipelineConfig } from '../../pipeline/profile/pipeline-config.ts'
import type { PipelineContext } from '../../pipeline/read-input.ts'
import type { HeadMemory } from '../prefix/head-memory.ts'
import type { HistoryMemory } from './history.ts'
import type { RewriteMemory } from './rewrite-memory.ts'
import type { TurnMemory } from './turn-memory.ts'

/** The context of rewriting a conversation, besides the pipeline's. */
export interface ConversationContext extends PipelineContext {
  /** Earlier rewrites of tool results, for requests that have these results again. */
  readonly rewrites?: RewriteContext
  /** Terms of the request besides its body; absent if the route has none. */
  readonly terms?: RequestTerms
  /** The configurations that conversations keep; absent: there is one for all. */
  readonly generations?: Generations
}

/** The configurations at hand. */
export interface Generations {
  /** The one in force for conversations that begin. */
  readonly newest: string
  /** Returns `null` if it is not at hand. */
  find(id: string): PipelineConfig | null
  /** Whether nothing has it any more. */
  isLost(id: string): boolean
}

/** The owner of the conversations, and their earlier rewrites. */
export interface RewriteContext {
  readonly tenant: string
  readonly memory: RewriteMemory
  /**
   * Memory of earlier turns, so that equal messages are not read again; absent: everything is read.
   */
  readonly turns?: TurnMemory
  /** What stood before earlier conversations; absent: nothing is compared. */
  readonly heads?: HeadMemory
  /** The time in milliseconds since the epoch; absent: the system's. */
  now?(this: void): number
  /** For references to earlier results of the same request; absent: there are none. */
  readonly history?: HistoryMemory
  /** Recorded decisions by their keys; they hold against any other. */
  readonly recalled: Readonly<Record<string, Uint8Array>>
  /**
   * Gets keys of results that are about to be written for the first time, so that records of them
   * can be looked up meanwhile; absent: they are looked up later.
   */
  readonly ahead?: (keys: readonly string[]) => void
}
