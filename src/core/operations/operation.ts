import type { z } from 'zod'
import type { Problem } from '../../errors.ts'
import type { HistoryMemory } from '../compress/history.ts'
import type { RewriteMemory } from '../compress/rewrite-memory.ts'
import type { TurnMemory } from '../compress/turn-memory.ts'
import type { Reliance } from '../dedup/session/refer-to-earlier.ts'
import type { KeptForSession } from '../dedup/session/remember.ts'
import type { Sessions } from '../dedup/session/shared-sessions.ts'
import type { PipelineConfig } from '../profile/pipeline-config.ts'
import type { LayerId } from '../requests/encode.ts'
import type { Pseudonyms } from '../telemetry/pseudonyms.ts'
import type { TokenCounter } from '../tokens/counter.ts'
import type { TokenizerId } from '../tokens/profiles.ts'
import type { ContentCoding } from '../transport/content-coding.ts'
import type { TextBytes } from '../transport/text-bytes.ts'

/** What an operation may use: everything is of the thread that runs it. */
export interface OperationContext {
  readonly counters: { get(id: TokenizerId): TokenCounter }
  /** Deepest nesting of JSON `content` that is parsed; deeper content passes through. */
  readonly maxDepth: number
  /**
   * Longest decoded content, in UTF-16 code units. The largest request body in bytes is enough for every text
   * that the service encoded, because its input came in such a body.
   */
  readonly maxDecodedChars: number
  /** Whether what an operation says in `keep` is kept, so that something may be left out of an answer. */
  readonly keepsOriginals: boolean
  /** The sessions' recent results, and whose request this is; absent: sessions have no effect. */
  readonly sessions?: SessionContext
  /** What was sent for tool results before, for requests that bring them again. */
  readonly rewrites?: RewriteContext
  /** How the pipeline chooses; absent: by the built-in defaults. */
  readonly pipeline?: PipelineConfig
  /** What was said from outside, in the order of `facts`; absent where nothing was asked. */
  readonly resolutions?: Resolutions
  /** What was said beside the body; absent where the route does not ask. */
  readonly terms?: RequestTerms
  /** What stands for ids in telemetry; absent: there is none. */
  readonly telemetry?: Pseudonyms
}

/** What a request comes with beside its body. */
export interface RequestTerms {
  /** Whether its client can fetch kept originals, so that parts may be left out unasked. */
  readonly redeems: boolean
  /** Whether everything is to stay as it is. */
  readonly bypass: boolean
  /** Whether originals behind earlier markers are missing, and to be kept again. */
  readonly restores?: true
  /** How a body of bytes is compressed, and what it may be without that; absent: it is not. */
  readonly compressed?: { readonly coding: ContentCoding; readonly maxBytes: number }
}

/** Whose conversations are rewritten, and how they were. */
export interface RewriteContext {
  readonly tenant: string
  readonly memory: RewriteMemory
  /** For what the turn before has at the same place; absent: everything is read anew. */
  readonly turns?: TurnMemory
  /** For references to earlier results of the same request; absent: there are none. */
  readonly history?: HistoryMemory
  /** Decisions on record by their keys, which hold against any other. */
  readonly recalled: Readonly<Record<string, Uint8Array>>
}

/** What L0 needs. */
export interface SessionContext extends Sessions {
  readonly tenant: string
  /** Unix milliseconds; tells idle sessions from others, and decides nothing in an answer. */
  readonly nowMs: number
  /** Names the job, so that one which is run again after a lost thread is known. */
  readonly attempt?: string
  /** Nothing is taken from the session and nothing left there, since what an answer spoke of could not be kept. */
  readonly isApart?: boolean
}

/** What a request needs from outside its thread before it can be answered (first phase). */
export interface Facts {
  /** An input that was kept before and stands for the content. */
  readonly input_ref?: string
  /** For the authority over sessions, where there is one. */
  readonly body?: BodyFacts
  /** Earlier results of a session that a text refers to. */
  readonly references?: { readonly session: string; readonly refs: readonly string[] }
}

/** What the authority over sessions needs to know of a body. */
export interface BodyFacts {
  readonly session: string
  /** SHA-256 of the content's UTF-8 bytes, lower-case hex. */
  readonly identity: string
  readonly bytes: number
  readonly tool_call_id?: string
  readonly tool?: string
  readonly file_path?: string
}

/** The answer to `Facts` (carried into the second phase). */
export interface Resolution {
  /** The content that `input_ref` names. */
  readonly input?: TextBytes
  /** Why there is none, or why a text cannot be looked for; the request fails with it. */
  readonly problem?: Problem
  /** The texts of the references that were found. */
  readonly texts?: Readonly<Record<string, TextBytes>>
  /** The session's partition: compactions so far. */
  readonly partition?: number
  /** Reference id of the body, 8 hex or more; present once the body is durably kept. */
  readonly ref?: string
}

/** What one operation did, for metrics and telemetry: never content. */
export interface Report {
  readonly op: string
  readonly layer?: LayerId
  readonly format?: string
  readonly shape?: string
  readonly tokens_in?: number
  readonly tokens_out?: number
  /** Of `tokens_in` that are missing in the answer, and can be fetched back. */
  readonly tokens_elided?: number
  /** Of `tokens_in` that references to earlier results stand for. */
  readonly tokens_referred?: number
  /** Why candidates were not sent, one entry each. */
  readonly refusals?: readonly Refusal[]
  /** What was done to a request to a vendor's API. */
  readonly rewrite?: RewriteReport
  /**
   * For telemetry, where there is one and the result was not answered before: makes `ResponseFacts` as JSON. Made for several results
   * in a row it takes a third of what it takes between other work.
   */
  readonly response?: () => string
  /** Of a proxy's request: the key of the record of the result; where it is on record already, telemetry was told. */
  readonly recordKey?: string
}

/** A report that has left its thread. */
export interface SentReport extends Omit<Report, 'response'> {
  readonly response?: string
}

/** What was done to the tool results in a request body. */
export interface RewriteReport {
  /** Whether the body is a request of its endpoint, as far as that matters. */
  readonly readable: boolean
  /** Texts of tool results, and those of them that were written anew. */
  readonly texts: number
  readonly rewritten: number
  readonly tokens_saved: number
  /** Of these, by references to earlier results, and by what was left out and can be fetched back. */
  readonly tokens_referred?: number
  readonly tokens_elided?: number
  /** Whether an earlier turn of the conversation had been sent with another beginning. */
  readonly prefix_changed?: boolean
  /** Names the conversation by its opening, 16 hex digits; the same in each of its turns. */
  readonly conversation?: string
  /** Where the tokens were saved, from the start of the prompt on. */
  readonly saved?: readonly SavedPlace[]
}

/** Tokens that a request does not carry any more. */
export interface SavedPlace {
  /** Share of the prompt, as written, that ends with this place: above 0, at most 1. */
  readonly at: number
  readonly tokens: number
}

/** A candidate that the gate did not let out. */
export interface Refusal {
  readonly format: string
  /** `differs`: decoded to another value. `failed`: could not be decoded. `bigger`: no token saved. */
  readonly reason: 'differs' | 'failed' | 'bigger'
}

/** One entry for each job of a request, `null` where there was no question, or is no answer. */
export type Resolutions = readonly (Resolution | null)[]

/** Who is there to be asked. */
export interface Asked {
  /** Whether another process knows the sessions. */
  readonly sessions: boolean
}

/** An answer and the reports on it (several for a batch). */
export interface Done<Answer> {
  readonly answer: Answer
  readonly reports: readonly Report[]
  /** What must be kept durably before the answer may leave. */
  readonly keep?: readonly KeepItem[]
  /** What must be there, and be prolonged, before it may. */
  readonly rely?: readonly Reliance[]
}

/** A text to keep, for a session where it says so. */
export type KeepItem = TextBytes & Partial<Pick<KeptForSession, 'session' | 'ticket'>>

/**
 * One thing that the service does: a name, the schemas of both sides, and a pure function between them.
 * A new operation is one file with one of these, a row in `registry.ts` and a route.
 */
export interface Operation<Request = unknown, Answer = unknown> {
  readonly name: string
  /** Whether JSON numbers that the answer repeats keep their spelling: see `parseKeepingSpelling`. */
  readonly keepsSpelling?: true
  readonly request: z.ZodType<Request>
  readonly answer: z.ZodType<Answer>
  /** What must be asked before `run`: one entry a job, `null` where nothing is. */
  facts?(request: Request, asked: Asked): readonly (Facts | null)[]
  /** Throws `AppError` for expected failures. */
  run(request: Request, context: OperationContext): Done<Answer>
}
