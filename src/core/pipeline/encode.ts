import { AppError } from '../base/errors.ts'
import { toBytes } from '../base/text-bytes.ts'
import type { EncodeAnswer, EncodeRequest } from '../contract/encode.ts'
import type { Done, Report } from '../contract/operation-result.ts'
import type { Refusal } from '../contract/result-row.ts'
import { hostBlocks } from '../formats/host-blocks.ts'
import { PASSTHROUGH } from '../formats/passthrough.ts'
import { formatLabel } from '../formats/text/text-format.ts'
import { resultRow } from '../telemetry/result-row.ts'
import { resolveTokenizer } from '../tokens/profiles.ts'
import type { FitOutcome } from './fit-budget.ts'
import type { LayerInput } from './layer.ts'
import { FORMAT_NAMES, KNOWN_FORMATS } from './layers.ts'
import { createOutcomes } from './outcomes.ts'
import { DEFAULT_PIPELINE } from './profile/default-pipeline.ts'
import { type ContentRequest, type PipelineContext, profileOf, readInput } from './read-input.ts'
import type { OpenLayer, SessionLayer } from './session-layer.ts'
import type { Delivery } from './session-recording.ts'
import { bareFormat } from './wrapped-format.ts'

/**
 * Encodes one tool result: parse, classify, let each layer propose, pass the gate, fit the budget,
 * account.
 * @throws AppError `invalid_request` (unknown tokenizer or format), `budget_too_small` with the
 * fewest tokens that an answer takes.
 * @param openLayer how the result finds what its agent has already
 */
export function encodeResult(
  asked: ContentRequest,
  context: PipelineContext,
  openLayer: OpenLayer,
): Done<EncodeAnswer> {
  if (context.isPaused) {
    checkRequest(asked)
    return unchangedAnswer(readInput(asked, context))
  }
  const request = withBudget(asked, context)
  checkRequest(request)
  const input = readInput(request, context)
  const profile = profileOf(request, context)
  const layer = openLayer('encode', input, profile, context)
  const past = layer?.past() ?? null
  if (past !== null) {
    const again = past.answer as EncodeAnswer
    const { keep } = past
    const kept = again.lossless ? keep : [...keep, toBytes(input.content)]
    return {
      ...past,
      answer: again,
      keep: kept,
      reports: [{ ...reportOf(input, again, layer), only: 'metrics' }],
    }
  }
  const refusals: Refusal[] = []
  const outcomes = createOutcomes({ ...input, request }, profile, context, { layer, refusals })
  const seen = { partition: layer?.partition ?? 0, ref: layer?.ref }
  let sent: FitOutcome = outcomes.referred() ?? outcomes.encoded()
  let answer = toAnswer(input, sent, seen)
  let keep = layer === null ? [] : layer.deliver(deliveryOf(answer, sent), sent.referral ?? null)
  if (keep === null) {
    // The body that the answer refers to was forgotten meanwhile.
    sent = outcomes.encoded()
    answer = toAnswer(input, sent, seen)
    keep = layer?.deliver(deliveryOf(answer, sent), null) ?? []
  }
  return {
    answer,
    keep: [...sent.keep, ...keep],
    dependencies: sent.referral?.dependencies ?? [],
    reports: [{ ...reportOf(input, answer, layer, refusals), ...hostBlocksIn(input) }],
  }
}

/** The request with the budget of the configuration, if it is to be trimmed and names none. */
function withBudget(request: ContentRequest, { pipeline }: PipelineContext): ContentRequest {
  if (request.mode !== 'trim') return request
  const { format_pipeline } = pipeline ?? DEFAULT_PIPELINE
  return { ...request, budget_tokens: request.budget_tokens ?? format_pipeline.budget_tokens }
}

/** The part of an answer that the session records. */
function deliveryOf(answer: EncodeAnswer, { referral, covered }: FitOutcome): Delivery {
  const { content, lossless, format, hints, savings, tokens } = answer
  const { dedup_tokens, encoder_tokens, elided_tokens } = savings
  const counters = {
    baseline_tokens: tokens.baseline,
    final_tokens: tokens.final,
    encoder_tokens_saved: encoder_tokens,
    elided_tokens,
    ...(referral === undefined
      ? {}
      : { [referral.kind]: 1, [`${referral.kind}_tokens_saved`]: dedup_tokens }),
  }
  return {
    answer,
    content,
    lossless,
    format,
    families: hints.map(({ family }) => family),
    counters,
    ...(covered && { covered }),
  }
}

/** Fields that name which part of a list of items is returned. */
const PART_FIELDS = ['level', 'chunk', 'offset', 'limit'] as const

/**
 * @throws AppError `invalid_request` for fields that do not go together, an unknown format or
 * tokenizer
 */
export function checkRequest(request: EncodeRequest): void {
  const { formats, mode } = request
  resolveTokenizer(request)
  const part = PART_FIELDS.find(field => request[field] !== undefined)
  if (part !== undefined && mode !== 'trim') throw invalid(part, 'this goes with mode trim only')
  if (request.chunk !== undefined && (request.offset ?? request.limit) !== undefined) {
    throw invalid('chunk', 'this goes without offset and limit')
  }
  const index = formats?.findIndex(format => !KNOWN_FORMATS.has(format)) ?? -1
  if (index === -1) return
  throw invalid(`formats.${index}`, `unknown format; known: ${FORMAT_NAMES.join(', ')}`)
}

function invalid(path: string, message: string): AppError {
  return new AppError('invalid_request', `${path}: ${message}`, { errors: [{ path, message }] })
}

/** Families of hints that say how to get what is not there. */
const WAYS_BACK: ReadonlySet<string> = new Set(['overflow', 'elision'])

function toAnswer(
  input: LayerInput,
  outcome: FitOutcome,
  { partition, ref }: Pick<SessionLayer, 'partition' | 'ref'>,
): EncodeAnswer {
  const { request, shape, prices } = input
  const saved = prices.baseline - outcome.tokens
  const elided = outcome.elided.reduce((sum, { tokens }) => sum + tokens, 0)
  // Escapes may take some of what references save.
  const referred =
    outcome.referral === undefined ? 0 : Math.min(saved, outcome.referredTokens ?? saved)
  const lossless = outcome.elided.length === 0
  const raw = Buffer.byteLength(input.content)
  const output = Buffer.byteLength(outcome.content)
  const wayBack = outcome.hints.findLast(({ family }) => WAYS_BACK.has(family))
  return {
    content: outcome.content,
    layer: outcome.layer,
    format: outcome.format,
    shape: shape.shape,
    inner_formats: [...shape.inner_formats],
    tokens: {
      tokenizer: prices.counter.id,
      exact: prices.counter.exact,
      baseline: prices.baseline,
      final: outcome.tokens,
    },
    lossless,
    ...(ref === undefined || !lossless ? {} : { ref }),
    hints: [...outcome.hints],
    elided: outcome.elided,
    savings: {
      dedup_tokens: referred,
      // Escapes of what looks like a hint may take more than was saved.
      encoder_tokens: Math.max(0, saved - referred - elided),
      elided_tokens: elided,
      ...(outcome.view === undefined ? {} : { view_tokens: elided }),
    },
    bytes: { raw, output },
    compression_ratio: raw === 0 ? 1 : output / raw,
    ...(wayBack === undefined ? {} : { agent_hint: wayBack.text }),
    truncated: !lossless,
    ...(outcome.level === undefined ? {} : { response_level: outcome.level }),
    ...(outcome.view === undefined ? {} : { view: outcome.view }),
    ...(outcome.trimmed?.chunks === undefined ? {} : { chunks: [...outcome.trimmed.chunks] }),
    ...(request.pagination === undefined ? {} : { pagination: request.pagination }),
    ...(request.sort === undefined ? {} : { sort: request.sort }),
    partition,
    ...(outcome.lookAlikes === undefined ? {} : { look_alikes: outcome.lookAlikes }),
  }
}

/**
 * The content unchanged, while nothing is rewritten. Sessions do not see it, and a budget has no
 * effect: a content that leaves something out would be rewritten too.
 */
function unchangedAnswer(input: LayerInput): Done<EncodeAnswer> {
  const { content, shape, prices } = input
  const { counter, baseline } = prices
  const bytes = Buffer.byteLength(content)
  const answer: EncodeAnswer = {
    content,
    layer: 'L3',
    format: PASSTHROUGH,
    shape: shape.shape,
    inner_formats: [...shape.inner_formats],
    tokens: { tokenizer: counter.id, exact: counter.exact, baseline, final: baseline },
    lossless: true,
    hints: [],
    elided: [],
    savings: { dedup_tokens: 0, encoder_tokens: 0, elided_tokens: 0 },
    bytes: { raw: bytes, output: bytes },
    compression_ratio: 1,
    truncated: false,
    partition: 0,
  }
  return { answer, reports: [{ ...reportOf(input, answer, null), only: 'metrics' }] }
}

/** The account of a result. */
function reportOf(
  { request: call, content, shape }: LayerInput,
  answer: EncodeAnswer,
  layer: SessionLayer | null,
  refusals: readonly Refusal[] = [],
): Report {
  const { look_alikes, format } = answer
  return {
    op: 'encode',
    row: () =>
      resultRow(
        { call, content, identity: layer?.identity, shape },
        { ...answer, format: bareFormat(format) },
        refusals.map(each => ({ ...each, format: formatLabel(each.format) })),
      ),
    texts: { before: content, after: answer.content, format },
    ...(look_alikes === undefined ? {} : { look_alikes }),
  }
}

/** What the host says in the result. */
function hostBlocksIn({ content, prices }: LayerInput): Pick<Report, 'host_blocks'> {
  const found = hostBlocks(content)
  if (found.length === 0) return {}
  const tokens = found.reduce((sum, { text }) => sum + prices.counter.count(text), 0)
  return { host_blocks: { blocks: found.length, tokens } }
}
