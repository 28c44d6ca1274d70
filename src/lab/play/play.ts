import type { EncodeAnswer, EncodeRequest } from '../../core/contract/encode.ts'
import type { OperationContext } from '../../core/operations/operation.ts'
import type { PipelineConfig } from '../../core/pipeline/profile/pipeline-config.ts'
import type { Conversation } from './conversation.ts'
import { ResultEncoder } from './result-encoder.ts'

/** What became of a recorded result. */
export interface PlayedResult {
  readonly before: number
  readonly after: number
  readonly layer: EncodeAnswer['layer']
  /** The format of the chosen text, without versions. */
  readonly format: string
  readonly shape: EncodeAnswer['shape']
  readonly innerFormats: EncodeAnswer['inner_formats']
  /** Tokens that references saved. */
  readonly referred: number
  /** Tokens that leaving parts out saved, beyond the smallest lossless text. */
  readonly elided: number
  /** Hints in it. */
  readonly hints: number
  /** What the agent sees of it; present if parts were left out. */
  readonly shown?: string
}

export interface PlayOptions {
  readonly context: OperationContext
  readonly config: PipelineConfig
  /** Whether parts may be left out, as the agent can fetch them. */
  readonly elides: boolean
  /** Which tokenizer counts; the default one if absent. */
  readonly tokens?: Pick<EncodeRequest, 'tokenizer' | 'model'>
}

/**
 * Encodes the results of a conversation in their order, as the service would have. A result that
 * the service refuses stays as it was.
 */
export function playConversation(
  { results }: Conversation,
  { context, config, elides, tokens }: PlayOptions,
): readonly PlayedResult[] {
  const bytes = results.reduce((sum, { text }) => sum + text.length, 0)
  const encoder = new ResultEncoder({ ...context, pipeline: config }, bytes)
  const more = { ...(elides ? { mode: 'elide' as const } : {}), ...tokens }
  let epoch = 0
  return results.map(result => {
    const isCompacted = result.agent === undefined && result.epoch > epoch
    if (isCompacted) epoch = result.epoch
    const answer = encoder.encode({ ...result, session: SESSION, isCompacted }, more)
    return answer === null ? UNPLAYED : toPlayed(answer)
  })
}

/** The only session of a conversation's encoder. */
const SESSION = 'session'

function toPlayed(answer: EncodeAnswer): PlayedResult {
  const { tokens, layer, format, shape, inner_formats, savings, hints, elided } = answer
  return {
    before: tokens.baseline,
    after: tokens.final,
    layer,
    shape,
    format,
    innerFormats: inner_formats,
    referred: savings.dedup_tokens,
    elided: savings.elided_tokens,
    hints: hints.length,
    ...(elided.length === 0 ? {} : { shown: answer.content }),
  }
}

const UNPLAYED: PlayedResult = {
  before: 0,
  after: 0,
  layer: 'L3',
  format: 'passthrough',
  shape: 'unknown',
  innerFormats: [],
  referred: 0,
  elided: 0,
  hints: 0,
}
