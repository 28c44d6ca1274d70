import type { TextBytes } from '../base/text-bytes.ts'
import type { SessionChanges } from '../sessions/journal/changes.ts'
import type { Dependency } from '../sessions/turn/call-memory.ts'
import type { KeptForSession } from '../sessions/turn/remember.ts'
import type { PromptPrint } from './prompt-print.ts'
import type { HeldOutUnit } from './request-terms.ts'
import type { ResultRow, ResultTexts } from './result-row.ts'

/** An answer and the reports on it (several for a batch). */
export interface Done<Answer> {
  readonly answer: Answer
  readonly reports: readonly Report[]
  /** What must be kept durably before the answer may leave. */
  readonly keep?: readonly KeepItem[]
  /** Bodies that must be there, with their lives prolonged, before the answer may leave. */
  readonly dependencies?: readonly Dependency[]
  /** What it changed in sessions that other processes share; absent: nothing. */
  readonly changes?: readonly SessionChanges[]
}

/** A text to keep, for a session if it names one. */
export type KeepItem = TextBytes &
  Partial<Pick<KeptForSession, 'session' | 'ref' | 'ticket'>> & {
    /** The bytes as `compressed` gives them, if the thread has done that. */
    readonly compressed?: Uint8Array
  }

/** The result of an operation on bytes. */
export interface ByteAnswer {
  /** What replaces the body; `null` if it stays unchanged. */
  readonly bytes: Uint8Array | null
  readonly reports: readonly Report[]
  /**
   * Decisions that were made for the first time. If the store has another decision for a key, that
   * one takes precedence, and the job runs again.
   */
  readonly records: readonly FreshRecord[]
  /** Must be durably kept before it may leave. */
  readonly keep: readonly KeepItem[]
  /**
   * Originals that its markers name, 24 hex digits each: they must be kept, and prolonged, first.
   */
  readonly markers: readonly string[]
  /** What must be there, with its life prolonged, before it may leave; absent: nothing. */
  readonly dependencies?: readonly Dependency[]
}

/** A decision that stays in force once it has left. */
export interface FreshRecord {
  /** 64 hex digits. */
  readonly key: string
  readonly bytes: Uint8Array
  /** Where the shared memory has it, to be confirmed; `null`: nowhere. */
  readonly position: number | null
  /** It replaces an earlier record, which could not be followed. */
  readonly replaces?: true
  /** The generation that it records; absent: it is a result's. */
  readonly generation?: string
  /** It is only asked for: if there is a record it takes precedence, but none is written. */
  readonly isQuestion?: true
  /** The arm of a unit, which is recorded for longer than a decision. */
  readonly isUnit?: true
  /** It is of a result that earlier turns had too, so another process may have sent it. */
  readonly isEarlier?: true
}

/** The report of one operation for metrics and telemetry, without content. */
export interface Report {
  readonly op: string
  /**
   * Makes the row of the result that the operation was about. Called for several results in a row
   * it takes a third of the time.
   */
  readonly row?: () => ResultRow
  /** Which book has the row; absent: all. */
  readonly only?: 'metrics' | 'telemetry'
  readonly texts?: ResultTexts
  /** Places of the answer that look like hints and were escaped; absent: none. */
  readonly look_alikes?: number
  /** What a host says in the result; absent: nothing. */
  readonly host_blocks?: HostBlockCount
  /** The rewrite of a request to a vendor's API. */
  readonly rewrite?: RewriteReport
  /**
   * The key of the result's record, for a proxy's request. A recorded result is not reported again.
   */
  readonly recordKey?: string
}

/** The blocks of hosts in results, such as `<system-reminder>`. */
export interface HostBlockCount {
  readonly blocks: number
  readonly tokens: number
}

/** A report that has left its thread. */
export interface SentReport extends Omit<Report, 'row'> {
  /** `ResultRow` as JSON: a text crosses to another thread at a fifth of what an object costs. */
  readonly row?: string
}

/** The rewrite of the tool results in a request body. */
export interface RewriteReport {
  /** Whether the body is a request of its endpoint, as far as that matters. */
  readonly readable: boolean
  /** Texts of tool results, and how many of them were rewritten. */
  readonly texts: number
  readonly rewritten: number
  readonly tokens_saved: number
  /**
   * The parts of the saved tokens: by references to earlier results, and by omissions that can be
   * fetched back.
   */
  readonly tokens_referred?: number
  readonly tokens_elided?: number
  /**
   * Results that came for the first time, and are not recorded yet; absent if there are none. Each
   * of them has a report of its own.
   */
  readonly fresh?: FreshResults | undefined
  /** Results that stayed as they are because the time for new ones was over; absent: none. */
  readonly late?: number
  /** Places of results that came for the first time that look like hints and were escaped. */
  readonly look_alikes?: number
  /** What a host says in results that came for the first time; absent: nothing. */
  readonly host_blocks?: HostBlockCount
  /** Whether an earlier turn of the conversation was sent with another prefix. */
  readonly prefix_changed?: boolean
  /** The model, as the request names it; absent: it does not. */
  readonly model?: string
  /** Names the conversation by its opening, 16 hex digits; the same in each of its turns. */
  readonly conversation?: string
  /** The response that the request continues, if the provider keeps the conversation. */
  readonly continues?: string
  /** What changed before the conversation since an earlier request; absent: nothing. */
  readonly head_change?: {
    readonly place: string
    readonly kind: string
    /** Bytes of the place before the change. */
    readonly at: number
    readonly scope: string
    /** The same of each other kind that changed. */
    readonly also?: readonly {
      readonly place: string
      readonly kind: string
      readonly at: number
    }[]
  }
  /** What the provider's cache depends on; absent: the body has not all of the conversation. */
  readonly print?: PromptPrint
  /** What is needed to keep its cache alive in a pause; absent: that is not done. */
  readonly ping?: PingPlaces
  /** Levers that changed the request besides its results; absent: none. */
  readonly levers?: readonly string[]
  /** Its definitions of tools; absent: it has none, or they were not counted. */
  readonly definitions?: DefinitionsReport
  /** Present if it was left untouched, because its unit is held out. */
  readonly held_out?: HeldOutUnit
  /** Where the tokens were saved, from the start of the prompt on. */
  readonly saved?: readonly SavedPlace[]
  /** Present if the request has our tool, whose calls the proxy answers. */
  readonly redeeming?: RetrievingRequest
  /** The generation that the thread needs to rewrite it; absent: it was rewritten. */
  readonly needs_generation?: string
}

/** A request's definitions of tools. */
export interface DefinitionsReport {
  /** Tokens, as the client sent them, and the part of tools that the conversation has called. */
  readonly tokens: number
  readonly used: number
  /** Names of those that it has called, at most 256. */
  readonly called: readonly string[]
  /** Tokens that deferred tools spared, less what was added for it. */
  readonly deferred: number
  /** Searches of the last turn that loaded a tool that we deferred. */
  readonly searches: number
  /** Whether the client dropped what a search at the provider found. */
  readonly isDropped?: true
}

/** Where a request says what a ping says otherwise, in the bytes that are sent. */
export interface PingPlaces {
  /** How often it may be sent in one pause, and what pings may cost of a conversation's input. */
  readonly most: number
  readonly budget: number
  readonly maxTokens: { readonly start: number; readonly end: number }
  /** Absent: it is not streamed. */
  readonly stream?: { readonly start: number; readonly end: number }
}

/** A request in which the proxy answers calls of its own tool. */
export interface RetrievingRequest {
  /** The byte of the rewritten body before which further messages are put; absent: nowhere. */
  readonly appendAt?: number
  /** Messages that the client has sent. */
  readonly messages: number
  /** Turns whose hidden part was put back; those that the client has changed stay without it. */
  readonly restored: number
  readonly changed: number
}

/** Results that came for the first time, so that each is counted once in its conversation. */
export interface FreshResults {
  /** The tokenizer or profile that the counts are in. */
  readonly tokenizer: string
  readonly count: number
  /** Their tokens, as the client sent them and as they leave. */
  readonly before: number
  readonly after: number
}

/** Tokens that a request does not carry any more; below 0 for what was added to it. */
export interface SavedPlace {
  /** Share of the prompt, as written, that ends with this place: above 0, at most 1. */
  readonly at: number
  readonly tokens: number
  /** Messages after the opening, up to the one with this place. */
  readonly messages: number
  /** The part of these tokens by the tool whose results they were of; absent: none is named. */
  readonly tools?: readonly (readonly [tool: string, tokens: number])[]
}
