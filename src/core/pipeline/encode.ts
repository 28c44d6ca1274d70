import { AppError } from '../../errors.ts'
import { formatLabel } from '../formats/text/text-notation.ts'
import { createHintGate } from '../hints/policy.ts'
import type { Done, OperationContext, Refusal, Resolution } from '../operations/operation.ts'
import { worthsOf } from '../profile/budget-profile.ts'
import { resolveProfile } from '../profile/resolve.ts'
import type { EncodeAnswer, EncodeRequest } from '../requests/encode.ts'
import { classify } from '../shape/classify.ts'
import { resolveTokenizer } from '../tokens/resolve.ts'
import { parseJson } from '../value/parse-json.ts'
import { chooseLossless } from './choose.ts'
import { fitBudget, type Outcome } from './fit-budget.ts'
import type { LayerInput } from './layer.ts'
import { FORMAT_NAMES, KNOWN_FORMATS, layersFor } from './layers.ts'
import { createPrices } from './prices.ts'
import { notationOf } from './wrapped-format.ts'

type ContentRequest = EncodeRequest & { readonly content: string }

/**
 * Encodes one tool result: parse, classify, let each layer propose, pass the gate, fit the budget, account.
 * @throws AppError `invalid_request` (unknown tokenizer or format), `budget_too_small` with the fewest
 * tokens that an answer takes.
 */
export function encodeContent(
  request: ContentRequest,
  context: OperationContext,
): Done<EncodeAnswer> {
  checkRequest(request)
  const input = readInput(request, context)
  const refusals: Refusal[] = []
  const profile = resolveProfile(context.pipeline, request)
  const layers = layersFor(profile)
  const lossless = chooseLossless(input, layers, refusals)
  const outcome = fitBudget(input, lossless, {
    gate: createHintGate(profile.hints, { sentInSession: () => 0 }),
    worths: worthsOf(profile.budget, request.strategy),
    usual: profile.preferred,
    keepsOriginals: context.keepsOriginals,
    choose: content => chooseLossless(readInput({ ...request, content }, context), layers, []),
  })
  const { baseline } = input.prices
  return {
    answer: toAnswer(input, outcome, context.resolutions?.[0] ?? null),
    keep: outcome.keep,
    reports: [
      {
        op: 'encode',
        layer: outcome.layer,
        format: notationOf(outcome.format),
        shape: input.shape.shape,
        tokens_in: baseline,
        tokens_out: outcome.tokens,
        tokens_elided: elidedTokens(outcome),
        refusals: refusals.map(({ format, reason }) => ({ format: formatLabel(format), reason })),
      },
    ],
  }
}

/** The content parsed, classified and counted: what every layer starts from. */
export function readInput(
  request: ContentRequest,
  context: Pick<OperationContext, 'maxDepth' | 'counters'>,
): LayerInput {
  const { content } = request
  const parsed = parseJson(content, { maxDepth: context.maxDepth })
  const value = parsed.ok ? parsed.value : undefined
  return {
    request,
    content,
    value,
    shape: classify(content, value),
    prices: createPrices(content, resolveTokenizer(request), context.counters),
  }
}

function checkRequest({ formats, mode, budget_tokens }: EncodeRequest): void {
  if (mode === 'trim' && budget_tokens === undefined) {
    throw invalid('budget_tokens', 'mode trim needs a budget')
  }
  const index = formats?.findIndex(format => !KNOWN_FORMATS.has(format)) ?? -1
  if (index === -1) return
  throw invalid(`formats.${index}`, `unknown format; known: ${FORMAT_NAMES.join(', ')}`)
}

function invalid(path: string, message: string): AppError {
  return new AppError('invalid_request', `${path}: ${message}`, { errors: [{ path, message }] })
}

function elidedTokens({ elided }: Outcome): number {
  return elided.reduce((sum, { tokens }) => sum + tokens, 0)
}

function toAnswer(
  input: LayerInput,
  outcome: Outcome,
  resolution: Resolution | null,
): EncodeAnswer {
  const { request, shape, prices } = input
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
    lossless: outcome.elided.length === 0,
    ...(resolution?.ref === undefined ? {} : { ref: resolution.ref }),
    hints: outcome.hints,
    elided: outcome.elided,
    savings: {
      dedup_tokens: 0,
      encoder_tokens: prices.baseline - outcome.tokens - elidedTokens(outcome),
      elided_tokens: elidedTokens(outcome),
    },
    bytes: { raw: Buffer.byteLength(input.content), output: Buffer.byteLength(outcome.content) },
    truncated: outcome.elided.length > 0,
    ...(request.pagination === undefined ? {} : { pagination: request.pagination }),
    ...(request.sort === undefined ? {} : { sort: request.sort }),
    partition: resolution?.partition ?? 0,
  }
}
