import { hash } from 'node:crypto'
import { classify } from '../core/classify/classify.ts'
import type { EncodeAnswer, EncodeRequest } from '../core/contract/encode.ts'
import { parseJson } from '../core/json/parse-json.ts'
import type { OperationContext } from '../core/operations/operation.ts'
import { bareFormat } from '../core/pipeline/wrapped-format.ts'
import { TELEMETRY_SCHEMA_VERSION, type TelemetryEvent } from '../core/telemetry/event.ts'
import type { Pseudonyms } from '../core/telemetry/pseudonyms.ts'
import { factsOf, resultRow } from '../core/telemetry/result-row.ts'
import { formatLevels } from './format-levels.ts'
import { isCompressed } from './logs/chunks.ts'
import type { LogFile } from './logs/list-logs.ts'
import { type LogTally, type MinedResult, readLog } from './logs/read-log.ts'
import { createResultEncoder, encodeOrNull, requestOf } from './play/result-encoder.ts'

/**
 * One tool result as telemetry would have it, with what the study of a corpus needs in addition.
 */
export interface Mined {
  readonly event: TelemetryEvent
  /** Name and version of the result's format; `null` if it stayed unchanged. */
  readonly notation: string | null
  /** The inner formats of JSON by level, see `formatLevels`. */
  readonly levels: readonly number[]
  /**
   * The same for a result that stands in several logs, as when a session is resumed; 52 bits.
   * `null` if that is unknown.
   */
  readonly identity: number | null
}

export interface MineOptions {
  readonly context: OperationContext
  readonly pseudonyms: Pseudonyms
  /** Which tokenizer counts. */
  readonly tokens: Pick<EncodeRequest, 'tokenizer' | 'model'>
  /** Tokens of a text as the baseline writes it; absent: as its tool gave it. */
  baselineOf?(text: string): number
  /** Called with the bytes that were read since the last call. */
  onRead?(bytes: number): void
}

/**
 * The results of one log as events, each encoded as the service would have encoded it at its place
 * in its session.
 * @param tally takes what was read and passed over
 * @throws UnreadableLog
 */
export function* mineLog(
  { path, bytes }: LogFile,
  tally: LogTally,
  options: MineOptions,
): Generator<Mined> {
  const { onRead } = options
  // How much a compressed log holds is not known.
  const encoder = createResultEncoder(options.context, isCompressed(path) ? Infinity : bytes)
  for (const result of readLog(path, tally, onRead === undefined ? {} : { onRead })) {
    const { session } = result
    // A sub-agent's results are in no session, as with `is_sidechain` at the service.
    const isMain = result.agent === undefined
    if (session !== undefined && isMain && result.isCompacted) encoder.compact(session)
    const answer = encodeOrNull(
      requestOf({ ...result, is_sidechain: !isMain }, options.tokens),
      encoder,
    )
    if (answer === null) tally.skipped.not_encoded++
    else yield mineResult(result, answer, options)
  }
}

function mineResult(
  result: MinedResult,
  answer: EncodeAnswer,
  { context: { maxDepth }, pseudonyms, baselineOf }: MineOptions,
): Mined {
  const { session, agent, tool, args, call_id, text, ts_ms, context } = result
  const more = baselineOf === undefined ? 0 : baselineOf(text) - answer.tokens.baseline
  const parsed = parseJson(text, { maxDepth })
  const value = parsed.ok ? parsed.value : undefined
  const notation = answer.layer === 'L3' ? null : bareFormat(answer.format)
  const call = { session, tool, args, tool_call_id: call_id, is_sidechain: agent !== undefined }
  const source = { call, content: text, shape: classify(text, value) }
  const sent = { ...answer, format: bareFormat(answer.format), partition: context.partition }
  const facts = factsOf(resultRow(source, sent, []), pseudonyms)
  // As in the service, a result without a session repeats nothing.
  const repeat_burst =
    session === undefined
      ? undefined
      : context.repeats.next(facts.content_sha_prefix, context.partition)
  const event = {
    schema_version: TELEMETRY_SCHEMA_VERSION,
    ...facts,
    ts_ms,
    sample_rate_applied: 1,
    // What the baseline takes more was saved by what represents the result.
    tokens_baseline: facts.tokens_baseline + more,
    encoder_tokens_saved: facts.encoder_tokens_saved + (facts.layer_used === 'L0' ? 0 : more),
    dedup_tokens_saved: facts.dedup_tokens_saved + (facts.layer_used === 'L0' ? more : 0),
    ...(repeat_burst === undefined ? {} : { repeat_burst }),
  } as const
  const levels = value === undefined ? [] : formatLevels(value)
  return { event, notation, levels, identity: identityOf(result, facts.content_sha_prefix) }
}

const IDENTITY_DIGITS = 13

/**
 * The identity is made of call, time and content. A session that continues in another log keeps all
 * three, whatever the log's name. The time is needed, since other sessions may use the same ids. It
 * is left out if a log gives copies another time.
 */
function identityOf({ call_id, ts_ms, isRestamped }: MinedResult, content: string): number | null {
  if (call_id === undefined || (ts_ms === 0 && !isRestamped)) return null
  const digits = hash('sha256', JSON.stringify([call_id, isRestamped || ts_ms, content]), 'hex')
  return Number.parseInt(digits.slice(0, IDENTITY_DIGITS), 16)
}
