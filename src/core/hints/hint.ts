import type { Scalar, Shown } from './text-slot.ts'
import type { ToolCall } from './tool-call.ts'

/** How a model finds an earlier result among its messages, without any tool. */
export interface EarlierCall {
  readonly tool: string
  /** The argument that distinguishes this call from others of the tool; see `decisiveArgument`. */
  readonly argument?: Shown
  /**
   * 1 is the call before. Needed if a later call has the same tool and argument, or if there is no
   * argument.
   */
  readonly calls_ago?: number
  /** The part of the result's content that is meant, counted from 1, if it has several. */
  readonly part?: number
}

/** The content is, byte for byte, the earlier result `ref` (8 to 64 hex digits of its SHA-256). */
export interface ReferenceHint {
  readonly family: 'reference'
  readonly ref: string
  readonly call?: EarlierCall
}

/**
 * The content has the value of the earlier result, except for `changes`, which are complete; if
 * there are none, except for what the lines below list.
 */
export interface NearReferenceHint {
  readonly family: 'near_reference'
  readonly ref: string
  readonly call?: EarlierCall
  readonly changes: readonly Change[]
}

/** One changed scalar, and its place: a key, or a JSON path such as `$.jobs[2].status`. */
export interface Change {
  readonly path: string
  readonly from: Scalar
  readonly to: Scalar
}

/**
 * Represents lines `first` to `last` of the earlier result, ends included: by their printed numbers
 * if it has them (docs/guide/sessions.md), else counted from 1.
 */
export interface LinesHint {
  readonly family: 'lines'
  readonly ref: string
  readonly call?: EarlierCall
  readonly first: number
  readonly last: number
  /** Added to the line numbers in their gutter; absent: none, the bytes are the same. */
  readonly shift?: number
}

/** More exists than is shown; `call` gives it. */
export interface OverflowHint {
  readonly family: 'overflow'
  readonly omitted: number
  readonly unit?: string
  readonly call: ToolCall
  /**
   * Arguments of `call` that the answered call did not have, or had with other values. With them a
   * line may leave the others out, and `parseHint` then gives a `call` of these only.
   */
  readonly changed?: readonly string[]
}

/** The content is written in `format`, an id that `POST /v1/decode` takes. */
export interface FormatHint {
  readonly family: 'format'
  readonly format: string
  /** What it was before, for example `json`. */
  readonly from?: string
  readonly rows?: number
  readonly columns?: number
}

/** What the provider reported about the result as a whole. */
export interface MetadataHint {
  readonly family: 'metadata'
  readonly query?: Shown
  readonly total: number
  readonly returned: number
  readonly sort?: { readonly by: string; readonly order: string }
}

/** Most of the last calls were searches. */
export interface SearchChainHint {
  readonly family: 'search_chain'
  readonly searches: number
  /** How many of the last calls; the answered one is the last of them. */
  readonly of: number
}

/** Parts of the original `hash` (24 hex digits of its SHA-256) are missing here. */
export interface ElisionHint {
  readonly family: 'elision'
  readonly hash: string
  readonly parts: readonly ElidedPart[]
  /** A few words on what is missing. */
  readonly summary?: Shown
  /** The chunk with the next missing items, and the number of chunks; `input_ref` is the hash. */
  readonly next?: { readonly chunk: number; readonly of: number }
}

export interface ElidedPart {
  /** What was left out, in the plural: `lines`, `items`. */
  readonly unit: string
  readonly omitted: number
  /** How many there were. */
  readonly of?: number
  /** A JSON path, or lines of the original as `lines 40-80`. */
  readonly at?: string
}

/**
 * One line in an answer that names what is missing, or the answer's form, and how to get the rest.
 */
export type Hint =
  | ReferenceHint
  | NearReferenceHint
  | LinesHint
  | OverflowHint
  | FormatHint
  | MetadataHint
  | ElisionHint
  | SearchChainHint

export type HintFamily = Hint['family']

/** Every family of hints; a record, so that none can be missing. */
const FAMILIES: Readonly<Record<HintFamily, true>> = {
  reference: true,
  near_reference: true,
  lines: true,
  overflow: true,
  format: true,
  metadata: true,
  elision: true,
  search_chain: true,
}

export const HINT_FAMILIES = Object.keys(FAMILIES) as readonly HintFamily[]

export const VERBOSITIES = ['terse', 'standard', 'verbose'] as const
export type Verbosity = (typeof VERBOSITIES)[number]
