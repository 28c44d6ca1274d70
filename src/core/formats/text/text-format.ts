import type { ShapeReport } from '../../classify/classify.ts'
import type { Value } from '../../json/value.ts'
import type { Uses } from '../../reading/constructs.ts'
import type { Reading } from '../../reading/price.ts'
import type { TokenCounter } from '../../tokens/counter.ts'
import type { JsonFormat } from '../json/json-format.ts'
import type { WorkBudget } from '../work.ts'

/** What a text format may use while it encodes. */
export interface TextTools {
  /** For choices between parts of the text; the whole is priced by the pipeline. */
  readonly counter: TokenCounter
  /** Value formats that may write JSON inside the text, the preferred one first. */
  readonly formats: readonly JsonFormat[]
  /** What constructs cost a reader; absent: nothing. */
  readonly reading?: Reading
  /** Budget of work for the JSON inside; absent: there is no bound. */
  readonly work?: WorkBudget
  /** The value of the whole text, if it is JSON and was parsed, and the levels of nesting in it. */
  readonly parsed?: { readonly value: Value; readonly depth: number }
  /** The lines as values, with gaps where others are missing; absent: none are. */
  readonly marked?: Value
}

/** One way in which a format represents the text. */
export interface WrittenText {
  readonly content: string
  /**
   * Information for the decoder only: the layout of JSON or of a table. Empty, or words of letters,
   * digits, `@`, `_`, `,` and `-`. It goes into the answer's `format` after a semicolon.
   */
  readonly style: string
  /** What its reader must know; absent: nothing. */
  readonly uses?: Uses
  /** Tokens of the content, if the format counted them. */
  readonly tokens?: number
  /**
   * No value format takes fewer tokens if the content saves so many: it has nearly all of the JSON
   * as a text.
   */
  readonly outdoesValues?: number
}

/**
 * One way to write a text as a shorter text, layout included. A new one is a file with one of
 * these, listed in `registry.ts` beside it.
 */
export interface TextFormat {
  readonly id: string
  /** Version of the grammar; raised whenever `decode` would read older text differently. */
  readonly version: number
  /** Whether it is written only if a request or a template names it. */
  readonly onlyNamed?: boolean
  /**
   * Whether the format takes JSON and decodes to JSON of the same value. Any other format takes
   * text and decodes to the same text.
   */
  readonly json?: true
  /** Whether it can write gaps between the values of lines. */
  readonly writesGaps?: true
  /** A cheap test on the shape, so that hopeless candidates cost nothing. */
  accepts(text: string, shape: ShapeReport): boolean
  /**
   * Steps that it takes to write this text and to read it again, JSON inside aside; absent: too few
   * to be counted.
   */
  steps?(text: string): number
  /**
   * The text in this format, in as many ways as justify a price; none if it cannot represent the
   * text exactly.
   */
  encode(text: string, tools: TextTools): readonly WrittenText[]
  /**
   * The text again.
   * @param style as `encode` gave it
   * @param maxChars UTF-16 code units that are written at most
   * @throws AppError `not_decodable` with the line, `payload_too_large`
   */
  decode(content: string, style: string, maxChars: number): string
  /**
   * Whether `decode` returns this text, found out faster; absent: it is decoded and compared.
   * Throws as `decode` does, if it comes so far.
   */
  restores?(content: string, style: string, maxChars: number, text: string): boolean
  /**
   * The value of the JSON that `decode` returns; absent: it is parsed. Its texts have at most
   * `maxChars`, its JSON may have more.
   */
  decodeValue?(content: string, style: string, maxChars: number): Value
}

/** Between a format's name and version and the style, in an answer's `format`. */
const STYLE_SEPARATOR = ';'

/** The answer's `format`, for example `md@1` or `ndjson@1;csv@1,python`. */
export function textFormat(base: string, style: string): string {
  return style === '' ? base : base + STYLE_SEPARATOR + style
}

/** Name and version without the style, `ndjson@1`: one of a fixed set, fit for a metric's label. */
export function formatLabel(format: string): string {
  return splitFormat(format).base
}

/** Name with version, and style, of an answer's `format`. */
export function splitFormat(format: string): { base: string; style: string } {
  const at = format.indexOf(STYLE_SEPARATOR)
  return at === -1
    ? { base: format, style: '' }
    : { base: format.slice(0, at), style: format.slice(at + 1) }
}
