import { hash } from 'node:crypto'
import { classify } from '../core/classify/classify.ts'
import type { EncodeAnswer, EncodeRequest } from '../core/contract/encode.ts'
import { parseJson } from '../core/json/parse-json.ts'
import type { OperationContext } from '../core/operations/operation.ts'
import { bareFormat } from '../core/pipeline/wrapped-format.ts'
import { TELEMETRY_SCHEMA_VERSION, type TelemetryEvent } from '../core/telemetry/event.ts'
import { createPseudonyms, type Pseudonyms } from '../core/telemetry/pseudonyms.ts'
import { factsOf, resultRow } from '../core/telemetry/result-row.ts'
import { resolveTokenizer } from '../core/tokens/profiles.ts'
import { formatLevels } from './format-levels.ts'
import { isCompressed, UnreadableLog } from './logs/chunks.ts'
import type { LogFile } from './logs/list-logs.ts'
import { type LogTally, type MinedResult, noTally, readLog } from './logs/read-log.ts'
import { ResultEncoder } from './play/result-encoder.ts'
import { type Baseline, baselineCounter } from './replay/baselines.ts'

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

export interface MineTerms {
  /** Which tokenizer counts. */
  readonly tokens: Pick<EncodeRequest, 'tokenizer' | 'model'>
  /** Keys the hashes. */
  readonly key: Uint8Array
  /** What savings are of. */
  readonly baseline: Baseline
}

/** The results of a log in their order, and what was read of it. */
export interface MinedLog {
  readonly mined: readonly Mined[]
  readonly tally: LogTally
  /** Whether all of it could be read. */
  readonly isWhole: boolean
}

/** Whose hashes these are: one's own. */
const TENANT = 'mine'

/**
 * The results of one log as events, each encoded as the service would have encoded it at its place
 * in its session.
 */
export async function mineLog(
  { path, bytes }: LogFile,
  context: OperationContext,
  { tokens, key, baseline }: MineTerms,
): Promise<MinedLog> {
  // How much a compressed log holds is not known.
  const encoder = new ResultEncoder(context, isCompressed(path) ? Infinity : bytes)
  const counter = context.counters.get(resolveTokenizer(tokens))
  const tokensOf = await baselineCounter(baseline, counter)
  const pseudonyms = createPseudonyms(key, TENANT)
  const tally = noTally()
  const mined: Mined[] = []
  try {
    for (const result of readLog(path, tally)) {
      const answer = encoder.encode(result, tokens)
      if (answer === null) tally.skipped.not_encoded++
      else {
        const more = tokensOf === null ? 0 : tokensOf(result.text) - answer.tokens.baseline
        mined.push(mineResult(result, answer, { context, pseudonyms, more }))
      }
    }
  } catch (error) {
    if (!(error instanceof UnreadableLog)) throw error
    return { mined, tally, isWhole: false }
  }
  return { mined, tally, isWhole: true }
}

interface ResultTerms {
  readonly context: OperationContext
  readonly pseudonyms: Pseudonyms
  /** Tokens that the baseline takes more than the input. */
  readonly more: number
}

function mineResult(
  result: MinedResult,
  answer: EncodeAnswer,
  { context: { maxDepth }, pseudonyms, more }: ResultTerms,
): Mined {
  const { session, agent, tool, args, call_id, text, ts_ms, context } = result
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
