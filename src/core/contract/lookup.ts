import type { Problem } from '../base/errors.ts'
import type { TextBytes } from '../base/text-bytes.ts'
import type { SharedTurn } from '../sessions/journal/apply-changes.ts'

/** Data that a request needs from outside its thread before it can be answered (first phase). */
export interface LookupRequest {
  /** The id of a kept input that represents the content. */
  readonly input_ref?: string
  /** The session of the result, if other processes share it. */
  readonly session?: SessionLookup
  /** Earlier results of a session that a text refers to. */
  readonly references?: { readonly session: string; readonly refs: readonly string[] }
}

/** A result that comes to a session which other processes share. */
export interface SessionLookup {
  readonly session: string
  /** Whether it is counted: not if it comes from another context. */
  readonly isCounted: boolean
  /** Names the call with its result, so that a retry is not counted; absent: it has no name. */
  readonly call?: string
}

/** The answer to a `LookupRequest` (carried into the second phase). */
export interface LookupResult {
  /** The content that `input_ref` names. */
  readonly input?: TextBytes
  /** Why there is none, or why a text cannot be looked up; the request fails with it. */
  readonly problem?: Problem
  /** The texts of the references that were found. */
  readonly texts?: Readonly<Record<string, TextBytes>>
  /** The session; absent if it is unknown what other processes did there. */
  readonly shared?: SharedTurn
}

/** One entry for each job of a request, `null` if there was no question, or there is no answer. */
export type LookupResults = readonly (LookupResult | null)[]

/** Sources that a worker may ask the main thread to look up. */
export interface LookupSources {
  /** Whether other processes share the sessions. */
  readonly sessions: boolean
}
