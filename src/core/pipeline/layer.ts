import type { ShapeReport } from '../classify/classify.ts'
import type { EncodeRequest, LayerId } from '../contract/encode.ts'
import { formatId } from '../formats/json/json-format.ts'
import type { Value } from '../json/value.ts'
import type { Uses } from '../reading/constructs.ts'
import type { Prices } from './prices.ts'

/** Fields that an object or list leaves without, behind a marker. */
export interface FieldOmission {
  readonly fields: readonly string[]
  /** Whether the bulk of lists and texts may go too, as in mode `elide`. */
  readonly bulk: boolean
}

/** One tool result on its way through the layers. */
export interface LayerInput {
  readonly request: EncodeRequest & { readonly omits?: FieldOmission }
  readonly content: string
  /** The parsed content; `undefined` if it is text, or JSON deeper than the limit. */
  readonly value: Value | undefined
  /** The value with gaps where items are missing, if only texts that show them are looked for. */
  readonly marked?: Value | undefined
  /** Whether the content is compact JSON, byte for byte. */
  readonly isCompact: boolean
  readonly shape: ShapeReport
  readonly prices: Prices
}

/** A smaller text that a layer offers. */
export interface Candidate {
  readonly content: string
  /** The answer's `format`. */
  readonly format: string
  readonly tokens: number
  /** Tokens that the profile adds in the choice; none if absent. */
  readonly surcharge?: number
  /** What its reader must know, and the tokens that this is worth; absent: nothing. */
  readonly uses?: Uses
  readonly readingPrice?: number
  /** No value format takes fewer tokens, so none need be tried. */
  readonly outdoesValues?: true
  /** Whether decoding `content` returns the input's value. Throws if it cannot be decoded. */
  restores(): boolean
}

/** The candidates of a layer for an input. The gate decides which is sent. */
export interface Proposals {
  /** The cheapest first; every one has fewer tokens than the baseline. */
  readonly candidates: readonly Candidate[]
  /** Tokens of the unchanged input. */
  readonly baseline: number
  /** Formats that were tried and saved no token. */
  readonly bigger: readonly string[]
  /**
   * Formats that accept such an input but could not represent this one, or not within the budget of
   * work.
   */
  readonly declined: readonly string[]
}

/**
 * A stage of the pipeline. A new layer is one file with one of these, listed in `layers.ts`. The
 * first layer with a candidate that passes the gate is used.
 */
export interface Layer {
  readonly id: LayerId
  propose(input: LayerInput): Proposals
}

/**
 * Whether the request's list of formats, if there is one, has the format by name or with its
 * version. Without a list, all are allowed but those that must be named.
 */
export function isAllowed(
  format: { readonly id: string; readonly version: number; readonly onlyNamed?: boolean },
  { request: { formats } }: LayerInput,
): boolean {
  if (formats === undefined) return format.onlyNamed !== true
  return formats.includes(format.id) || formats.includes(formatId(format))
}

/**
 * Sorted in place, the cheapest first. Stable: equal prices keep their order in every worker and
 * version of Node.
 */
export function byPrice(candidates: Candidate[]): readonly Candidate[] {
  return candidates.sort((a, b) => priceOf(a) - priceOf(b))
}

function priceOf(candidate: Candidate): number {
  return costOf(candidate) + (candidate.surcharge ?? 0)
}

/** What texts are compared by: their tokens, and the price of what their reader must know. */
export function costOf({
  tokens,
  readingPrice = 0,
}: {
  readonly tokens: number
  readonly readingPrice?: number
}): number {
  return tokens + readingPrice
}
