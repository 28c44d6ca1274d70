import { hash } from 'node:crypto'
import { USAGE_KINDS } from '../../core/conversation/usage/token-usage.ts'
import type { OperationContext } from '../../core/operations/operation.ts'
import { isCompressed } from '../logs/chunks.ts'
import type { LogFile } from '../logs/list-logs.ts'
import { type MinedResult, noTally, readLog } from '../logs/read-log.ts'
import { ResultEncoder } from '../play/result-encoder.ts'

/** An answer of a model: what it is the same by in all logs, day, place of its model, usage. */
export type Answer = readonly [id: number, day: number, model: number, ...usage: number[]]
/** A result: what it is the same by in all logs, day, place of its tool, bytes. */
export type Result = readonly [id: number, day: number, tool: number, bytes: number]

/** What a log has, without any of its content. */
export interface LogSummary {
  readonly sessions: readonly string[]
  readonly models: readonly string[]
  readonly tools: readonly string[]
  readonly answers: readonly Answer[]
  readonly results: readonly Result[]
}

/** A result as it was and as it would have been sent. */
export interface Example {
  readonly tool: string
  readonly before: string
  readonly after: string
  readonly tokens: readonly [before: number, after: number]
}

export interface EncodedLog {
  /** Tokens of the first results, in their order; zeros for one that cannot be encoded. */
  readonly tokens: readonly (readonly [before: number, after: number])[]
  /** Which of them is worth a look: short, and much smaller after; -1 if none is. */
  readonly example: number
}

const DAY_MS = 86_400_000
const NAMELESS = ''
const HASH_DIGITS = 12
/** Tokens of a result that fits a screen. */
const [LEAST_SHOWN, MOST_SHOWN] = [60, 400]

/** Reads a log once. A log that ends early has what was read. @throws UnreadableLog */
export function summarizeLog(file: LogFile): LogSummary {
  const sessions = new Set<string>()
  const models = createNames()
  const tools = createNames()
  const answers = new Map<number, Answer>()
  const results: Result[] = []
  const log = readLog(file.path, noTally(), ({ id, usage }, model = NAMELESS, ts_ms) => {
    const key = keyOf(id)
    const kinds = USAGE_KINDS.map(kind => usage[kind])
    // Lines of an answer that is still written say less of its output.
    answers.set(key, [key, dayOf(ts_ms), models.placeOf(model), ...kinds])
  })
  for (const result of log) {
    const { session, agent, tool = NAMELESS, text, ts_ms } = result
    if (session !== undefined && agent === undefined) sessions.add(session)
    const bytes = Buffer.byteLength(text)
    results.push([identityOf(result, bytes), dayOf(ts_ms), tools.placeOf(tool), bytes])
  }
  return {
    sessions: [...sessions],
    models: models.names,
    tools: tools.names,
    answers: [...answers.values()],
    results,
  }
}

/**
 * Encodes results of a log as a proxy would have.
 * @param mostBytes of their texts; the rest of the log is not encoded
 * @throws UnreadableLog
 */
export function encodeLog(file: LogFile, context: OperationContext, mostBytes: number): EncodedLog {
  const encoder = new ResultEncoder(context, isCompressed(file.path) ? Infinity : file.bytes)
  const tokens: (readonly [number, number])[] = []
  let [example, most, bytes] = [-1, 0, 0]
  for (const result of readLog(file.path, noTally())) {
    if (bytes > mostBytes) break
    bytes += Buffer.byteLength(result.text)
    const answer = encoder.encode(result, {})
    const { baseline, final } = answer?.tokens ?? { baseline: 0, final: 0 }
    const isShort = baseline >= LEAST_SHOWN && baseline <= MOST_SHOWN
    if (isShort && answer?.layer !== 'L0' && !result.is_error && baseline - final > most) {
      most = baseline - final
      example = tokens.length
    }
    tokens.push([baseline, final])
  }
  return { tokens, example }
}

/** A result alone, before and after. @throws UnreadableLog */
export function exampleOf(file: LogFile, at: number, context: OperationContext): Example | null {
  const encoder = new ResultEncoder(context, 0)
  let place = 0
  for (const result of readLog(file.path, noTally())) {
    if (place++ < at) continue
    const answer = encoder.encode({ ...result, session: undefined }, {})
    if (answer === null) return null
    const { baseline, final } = answer.tokens
    const { tool = NAMELESS, text } = result
    return { tool, before: text, after: answer.content, tokens: [baseline, final] }
  }
  return null
}

/** Days since 1970; 0 for a log without times. */
function dayOf(ts_ms: number): number {
  return Math.floor(ts_ms / DAY_MS)
}

/** A call has one result, which a resumed session copies; without a call each counts. */
function identityOf({ call_id, session, tool }: MinedResult, bytes: number): number {
  if (call_id === undefined) return 0
  // Recordings use the same ids in all sessions, and agents copy sessions under another name.
  const isUnique = call_id.length > 12
  return keyOf(JSON.stringify([call_id, tool, bytes, isUnique ? '' : session]))
}

function keyOf(text: string): number {
  return Number.parseInt(hash('sha1', text, 'hex').slice(0, HASH_DIGITS), 16)
}

function createNames() {
  const places = new Map<string, number>()
  const names: string[] = []
  return {
    names,
    placeOf(name: string): number {
      const known = places.get(name)
      if (known !== undefined) return known
      places.set(name, names.length)
      return names.push(name) - 1
    },
  }
}
