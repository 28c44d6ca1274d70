import type { Problem } from '../base/errors.ts'
import type { TextBytes } from '../base/text-bytes.ts'

/** Data that a request needs from outside its thread before it can be answered (first phase). */
export interface LookupRequest {
  /** The id of a kept input that represents the content. */
  readonly input_ref?: string
  /** For the authority over sessions, if there is one. */
  readonly body?: BodyLookup
  /** Earlier results of a session that a text refers to. */
  readonly references?: { readonly session: string; readonly refs: readonly string[] }
}

/** The facts of a body for the authority over sessions. */
export interface BodyLookup {
  readonly session: string
  /** SHA-256 of the content's UTF-8 bytes, lower-case hex. */
  readonly identity: string
  readonly bytes: number
  readonly tool_call_id?: string
  readonly tool?: string
  readonly file_path?: string
}

/** The answer to a `LookupRequest` (carried into the second phase). */
export interface LookupResult {
  /** The content that `input_ref` names. */
  readonly input?: TextBytes
  /** Why there is none, or why a text cannot be looked up; the request fails with it. */
  readonly problem?: Problem
  /** The texts of the references that were found. */
  readonly texts?: Readonly<Record<string, TextBytes>>
  /** The session's partition: compactions so far. */
  readonly partition?: number
  /** Reference id of the body, 8 hex or more; present once the body is durably kept. */
  readonly ref?: string
}

/** One entry for each job of a request, `null` if there was no question, or there is no answer. */
export type LookupResults = readonly (LookupResult | null)[]

/** Sources that a worker may ask the main thread to look up. */
export interface LookupSources {
  /** Whether another process knows the sessions. */
  readonly sessions: boolean
}
