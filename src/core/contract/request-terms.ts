import type { ArmTerms } from '../arms/assign.ts'
import type { ClearingTerms } from '../base/clearing-terms.ts'
import type { ContentCoding } from '../base/content-coding.ts'
import type { PlanningTerms } from '../enrich/plan.ts'
import type { OfferTerms } from '../enrich/projections.ts'
import type { ReadingLevel } from '../reading/constructs.ts'
import type { AgentTools } from './agent-tools.ts'
import type { ResponseBudget } from './response-budget.ts'

/** Terms of a request besides its body. */
export interface RequestTerms {
  /** Whether its client can fetch kept originals, so that parts may be left out unasked. */
  readonly redeems: boolean
  /** Whether its upstream may leave out earlier results by itself; absent: the body says so. */
  readonly forgets?: true
  /** Whether a sub-agent sent it, whose context is not that of the session. */
  readonly isSidechain?: true
  /** Whether everything is to stay unchanged. */
  readonly bypass: boolean
  /**
   * Whether the proxy adds a tool of its own to conversations that begin, and answers its calls.
   */
  readonly addsTool?: true
  /** Whether its client sends whole conversations, so that results may refer to earlier ones. */
  readonly references?: boolean
  /** Whether originals that earlier markers name are missing, and must be kept again. */
  readonly restores?: true
  /** Whether nothing is left out that was not before: new decisions cannot be recorded. */
  readonly recordedOnly?: true
  /**
   * Whether nothing is left out of results that earlier turns had, if an earlier one is recorded:
   * the process that sent them could not record it.
   */
  readonly earlierWhole?: true
  /** Whether decisions that memory has are recorded again, because the store may have lost them. */
  readonly recordsAgain?: true
  /** The host of its upstream, if that may take a cache breakpoint at the top of a request. */
  readonly placesAt?: string
  /** Whether its key pays by token; absent: it may be a subscription, which buys no life. */
  readonly paysByToken?: true
  /**
   * Kinds of agents whose conversations under this key would have cost less with an hour; absent:
   * what lives brought is not known, or was a loss.
   */
  readonly hourKinds?: readonly number[]
  /** What is known of the tools of its tenant's agents; absent: nothing. */
  readonly agentTools?: readonly AgentTools[]
  /** Whether its tokens are only counted, so that no provider caches it. */
  readonly countsOnly?: true
  /** The model, if the path of the request names it; absent: the body does. */
  readonly model?: string
  /** How long its vendor's caches keep a prefix that is not used; absent: it is not known. */
  readonly cacheLives?: readonly CacheLife[]
  /** What steps of clearing leave and cost; absent: `CLEARING_TERMS`. */
  readonly clearing?: ClearingTerms
  /** The key that it came with; absent: there are no keys. */
  readonly key?: string
  /** The host's wish for each result; absent: it has none. */
  readonly responseBudget?: ResponseBudget
  /** How hard its texts may be to read; absent: the configuration says it. */
  readonly reading?: ReadingLevel
  /** What is known of an MCP tool result; absent for any other request. */
  readonly result?: ResultTerms
  /** How a body of bytes is compressed, and its largest size without that; absent: it is not. */
  readonly compressed?: { readonly coding: ContentCoding; readonly maxBytes: number }
  /**
   * When the time for new results is over, in milliseconds since the epoch: those that come after
   * it stay as they are, and earlier ones are written as recorded. Absent: all are written.
   */
  readonly newUntil?: number
  /** What arms are drawn with; absent: all of the request is treated. */
  readonly arms?: ArmTerms
  /**
   * The unit that a body was forwarded untouched for. What would have been written is computed
   * beside, and recorded under names of its own; absent: the body is one that leaves.
   */
  readonly beside?: HeldOutUnit
  /** What plans are made with; absent: the defaults. */
  readonly planning?: PlanningTerms
  /** What a result may offer to be called next; absent for any other request. */
  readonly offers?: OfferTerms
}

/** How long a provider keeps a prefix that is not used, for models with a prefix. */
export interface CacheLife {
  /** Absent: for all others of the vendor. */
  readonly model?: string
  readonly seconds: number
}

/** A unit that is held out. */
export interface HeldOutUnit {
  /** 64 hex digits. */
  readonly key: string
  readonly share: number
}

/** What the gateway knows of a tool result beside its bytes. */
export interface ResultTerms {
  /** The endpoint: `mcp__{server}__{tool}`. */
  readonly tool: string
  /** What the result is of; absent: a call of a tool. Of `strings` only hints are escaped. */
  readonly of?: 'resource' | 'strings'
  /** The call's arguments as JSON. */
  readonly args?: Uint8Array
  readonly mode: 'lossless' | 'elide' | 'trim'
  readonly budget_tokens?: number
  /** The host's wish for this result; absent: what the configuration says of the tool. */
  readonly response_budget?: ResponseBudget
  /**
   * `keep`: `structuredContent` stays, and texts are encoded. `text`: one text that encodes it
   * takes the place of both.
   */
  readonly structured: 'keep' | 'text'
  /** Fields that leave only if the model asks for them: see `omittedFields`. */
  readonly omitted_fields?: readonly string[]
  /** Present if large markup of browsers is cut: the server's name, and the intent's keywords. */
  readonly markup?: { readonly server: string; readonly keywords: readonly string[] }
  /** Whose context the result is read in; absent: it refers to nothing. */
  readonly place?: ResultPlace
  /** What the client shows of one result at most; absent: everything. */
  readonly limit?: ResultLimit
}

/** The place of a result in the context of an agent. */
export interface ResultPlace {
  readonly session: string
  /** As the result was counted when its call came. */
  readonly sequence: number
  readonly epoch: number
}

/** Tokens of all texts of a result. */
export interface ResultLimit {
  /** Above, the client would cut or refuse it. */
  readonly above_tokens: number
  /** What it is trimmed to then. */
  readonly to_tokens: number
}
