import type { ShapeReport } from '../../classify/classify.ts'
import type { Value } from '../../json/value.ts'
import type { Uses } from '../../reading/constructs.ts'
import type { TokenCounter } from '../../tokens/counter.ts'
import type { Extent } from '../work.ts'

/**
 * One way to write a value as text. A new format is one file with one of these, listed in
 * `registry.ts`, and its rows in the shared table of cases under `test/`.
 */
export interface JsonFormat {
  /** Name in the answer's `format`, for example `csv`. */
  readonly id: string
  /** Version of the grammar; raised whenever `decode` would read older text differently. */
  readonly version: number
  /** Whether it is written only if a request or a template names it. */
  readonly onlyNamed?: boolean
  /** Whether it writes compact JSON, so that such an input is its text. */
  readonly compact?: true
  /** A cheap test on the shape, so that hopeless candidates take no time. */
  accepts(value: Value, shape: ShapeReport): boolean
  /** Steps to write a value of this extent and to read it again; absent: too few to be counted. */
  steps?(extent: Extent): number
  /**
   * The text, or `null` if this format cannot represent the value exactly. A format that has
   * several ways to write a value prices them by `counter`; without one, by their length.
   */
  encode(value: Value, counter?: TokenCounter): string | null
  /**
   * The same text, with its surcharge; absent if there is none.
   */
  weigh?(value: Value, counter: TokenCounter): Weighed | null
  /** How each part of the text was chosen; absent if there is no choice. */
  explain?(value: Value, counter: TokenCounter): readonly ExplainedPart[]
  /** The value again. Throws `AppError('not_decodable')` that names the line. */
  decode(text: string): Value
}

/** A text, and the tokens that a profile adds when formats are compared. */
export interface Weighed {
  readonly content: string
  readonly surcharge: number
  /** What its reader must know; absent: nothing. */
  readonly uses?: Uses
  /** Tokens of the content, if the format counted them. */
  readonly tokens?: number
}

/** A list or object of the value, and the ways that it was looked at in. */
export interface ExplainedPart {
  /** JSON path; `(json)` after that of a string represents the value whose JSON the string is. */
  readonly path: string
  /** Lists and objects around it. */
  readonly depth: number
  readonly chosen: string
  /** Tokens of the chosen way, with everything in it. */
  readonly tokens: number
  /**
   * In order of preference. `price` is used for the comparison: the tokens, and what a profile adds
   * to them.
   */
  readonly options: readonly {
    readonly way: string
    readonly tokens: number
    readonly price: number
  }[]
}

/** The text of the value in this format, for a choice between formats. */
export function weighed(format: JsonFormat, value: Value, counter: TokenCounter): Weighed | null {
  if (format.weigh !== undefined) return format.weigh(value, counter)
  const content = format.encode(value, counter)
  return content === null ? null : { content, surcharge: 0 }
}

/** A format's id in an answer: name and grammar version, for example `csv@1`. */
export function formatId(format: Pick<JsonFormat, 'id' | 'version'>): string {
  return `${format.id}@${format.version}`
}
