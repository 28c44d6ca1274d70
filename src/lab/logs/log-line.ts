import type { TokenUsage } from '../../core/conversation/usage/token-usage.ts'

/** One line of a log, as far as it is about the agent's context. */
export interface LogLine {
  /** The session's id; absent if the line has none, and the last line's is meant. */
  readonly session?: string
  /** Names the sub-agent whose context it is; absent for the agent itself. */
  readonly agent?: string
  /**
   * Present in a line that states whose log this is. The first such line of a log counts: lines of
   * sessions that it was forked from may follow, copied with their history.
   */
  readonly opens?: { readonly session: string; readonly agent?: string }
  /** The model that wrote it, or writes what comes. */
  readonly model?: string
  /** Unix milliseconds. */
  readonly ts_ms?: number
  readonly usage?: LoggedUsage
  readonly steps: readonly LogStep[]
}

/** What an answer of the model was billed for. Logs have the same one in several lines. */
export interface LoggedUsage {
  /** The same for copies of the answer, in any log. */
  readonly id: string
  readonly usage: TokenUsage
}

/** A tool call, its result, or a compaction of the context before it. */
export type LogStep =
  | { readonly kind: 'call'; readonly id: string; readonly tool: string; readonly args: unknown }
  | LoggedResult
  | { readonly kind: 'compaction' }

export interface LoggedResult {
  readonly kind: 'result'
  /** The id of the call; absent if the log does not name calls. */
  readonly id?: string
  /** The text that the agent was given; `null` if it was not a text but, for example, an image. */
  readonly text: string | null
  readonly is_error?: boolean
  /** Present if the log has it with the result. */
  readonly tool?: string
  readonly args?: unknown
  /** Whether a copy in another log has a time of its own. */
  readonly isRestamped?: true
  /** Compactions of the context so far, if the log counts them. */
  readonly epoch?: number
}

/** Reads the lines of one agent's logs; returns `null` for any other line. */
export type Dialect = (line: Fields) => LogLine | null

export type Fields = Readonly<Record<string, unknown>>

/** The field as a text that is not empty. */
export function textField(fields: Fields, name: string): string | undefined {
  const value = fields[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** No answer has as many tokens: a larger number is none. */
const MOST_TOKENS = 1e9

/** The field as a count of tokens; 0 if it is none. */
export function countField(fields: Fields | null, name: string): number {
  const value = fields?.[name]
  const isCount = Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= MOST_TOKENS
  return isCount ? Number(value) : 0
}

/** The value as an object's fields; `null` if it is none. */
export function fieldsOf(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : null
}

/** Latest instant of a `Date`. */
const MAX_INSTANT = 8.64e15

/** A time of day at the end, without a zone. */
const ZONELESS = /T[\d:.]+$/

/**
 * The time of a log's `timestamp` or `ts`, in Unix milliseconds; UTC if it names no zone.
 */
export function timeOf(value: unknown): number | undefined {
  const text = typeof value === 'string' && ZONELESS.test(value) ? `${value}Z` : value
  const ms = typeof text === 'number' ? text : typeof text === 'string' ? Date.parse(text) : NaN
  return ms >= 0 && ms <= MAX_INSTANT ? Math.floor(ms) : undefined
}

/**
 * The texts of a result's parts, concatenated; `null` if there is none.
 * @param content a text, or parts of which some have a text
 */
export function textOf(content: unknown): string | null {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return null
  const texts = content.flatMap(part => {
    const text = fieldsOf(part)?.['text']
    return typeof text === 'string' ? [text] : []
  })
  return texts.length === 0 ? null : texts.join('\n')
}
