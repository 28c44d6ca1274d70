import type { KeptRow } from '../../core/contract/result-row.ts'
import type { Turn } from './turn.ts'

/** Tokens of results: as the tools gave them, and what was saved of them by what saved it. */
export interface ResultSums {
  readonly results: number
  readonly before: number
  readonly referred: number
  readonly encoded: number
  readonly omitted: number
}

/** Prompts as the providers billed them, in uncached input tokens. */
export interface BillSums {
  readonly turns: number
  /** Turns whose answer reported no usage; they are in none of the sums. */
  readonly unknown: number
  readonly billed: number
  readonly without: number
}

/** A part of the window: an hour, or a day of 24 hours. */
export interface Bucket extends ResultSums, BillSums {
  /** Unix milliseconds of its start. */
  readonly at: number
}

export interface ReasonCount {
  readonly reason: string
  readonly count: number
  readonly tokens: number
}

export interface ToolSums extends ResultSums {
  readonly tool: string
}

export interface Overview {
  readonly results: ResultSums
  /** The part of them that was counted by an estimate. */
  readonly estimated: number
  readonly bySource: readonly (ResultSums & { readonly source: string })[]
  readonly bill: BillSums
  readonly prefixChanges: number
  readonly buckets: readonly Bucket[]
  /** Requests that were forwarded unchanged, by reason. */
  readonly untouched: readonly ReasonCount[]
  /** Results that stayed unchanged, by reason, with their tokens. */
  readonly unchanged: readonly ReasonCount[]
  /** The tools with the most tokens that are still sent. */
  readonly heaviest: readonly ToolSums[]
}

/** Results of one tool in one shape and format. */
export interface ToolRow extends ResultSums {
  readonly tool: string
  readonly shape: string
  readonly format: string
}

/** Texts of the tool that agents fetched again. */
export interface FetchedSums {
  readonly tool: string
  readonly times: number
  readonly bytes: number
}

export interface ToolTable {
  readonly rows: readonly ToolRow[]
  readonly fetched: readonly FetchedSums[]
}

export interface ConversationRow extends Omit<BillSums, 'unknown'> {
  readonly id: string
  readonly source: string
  readonly model: string
  /** Empty if they are not known. */
  readonly project: string
  readonly agent: string
  readonly first_at: number
  readonly last_at: number
  readonly results: number
  readonly before: number
  readonly saved: number
}

/** A result as the pages list it. */
export interface LedgerResult extends Omit<KeptRow, 'session'> {
  readonly id: number
  /** Unix milliseconds. */
  readonly at: number
  readonly source: string
  /** Empty if there is none. */
  readonly conversation: string
}

/** A request as the table has it: flags are 1 or 0, unknown names are empty. */
export interface LedgerTurn
  extends Pick<Turn, 'at' | 'vendor' | 'uncached' | 'cache_read' | 'cache_write' | 'output'>,
    Pick<Turn, 'removed' | 'billed' | 'without'> {
  readonly id: number
  readonly model: string
  readonly known: number
  readonly untouched: string
  readonly prefix_changed: number
}

export interface ConversationPage {
  readonly rows: readonly ConversationRow[]
  /** Rows of all pages. */
  readonly total: number
}

export interface ConversationDetail {
  readonly conversation: ConversationRow
  readonly turns: readonly LedgerTurn[]
  readonly results: readonly LedgerResult[]
}
