import { AppError } from '../../errors.ts'
import { PASSTHROUGH } from '../formats/passthrough.ts'
import { formatLabel } from '../formats/text/text-notation.ts'
import type { Done, OperationContext, Refusal, Resolution } from '../operations/operation.ts'
import { resolveProfile } from '../profile/resolve.ts'
import type { EncodeAnswer, EncodeRequest, LayerId } from '../requests/encode.ts'
import { classify } from '../shape/classify.ts'
import { resolveTokenizer } from '../tokens/resolve.ts'
import { parseJson } from '../value/parse-json.ts'
import { passGate } from './gate.ts'
import type { Layer, LayerInput } from './layer.ts'
import { FORMAT_NAMES, KNOWN_FORMATS, layersFor } from './layers.ts'
import { createPrices } from './prices.ts'

interface Outcome {
  readonly content: string
  readonly layer: LayerId
  readonly format: string
  readonly tokens: number
}

/**
 * Encodes one tool result: parse, classify, let each layer propose, pass the gate, account.
 * @throws AppError `invalid_request` (unknown tokenizer or format), `budget_too_small` with the fewest
 * tokens that a lossless answer takes.
 */
export function encodeContent(
  request: EncodeRequest & { readonly content: string },
  context: OperationContext,
): Done<EncodeAnswer> {
  checkFormats(request.formats)
  const input = readInput(request, context)
  const refusals: Refusal[] = []
  const outcome = firstOutcome(input, layersFor(resolveProfile(context.pipeline, request)), refusals)
  checkBudget(request, outcome)
  const { baseline } = input.prices
  return {
    answer: toAnswer(input, outcome, context.resolutions?.[0] ?? null),
    reports: [
      {
        op: 'encode',
        layer: outcome.layer,
        format: formatLabel(outcome.format),
        shape: input.shape.shape,
        tokens_in: baseline,
        tokens_out: outcome.tokens,
        refusals: refusals.map(({ format, reason }) => ({ format: formatLabel(format), reason })),
      },
    ],
  }
}

/** The content parsed, classified and counted: what every layer starts from. */
export function readInput(
  request: EncodeRequest & { readonly content: string },
  context: OperationContext,
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

function firstOutcome(input: LayerInput, layers: readonly Layer[], refusals: Refusal[]): Outcome {
  for (const layer of layers) {
    const winner = passGate(layer.propose(input), refusals)
    if (winner !== undefined) return { ...winner, layer: layer.id }
  }
  const { content, prices } = input
  return { content, layer: 'L3', format: PASSTHROUGH, tokens: prices.baseline }
}

function checkFormats(formats: readonly string[] | undefined): void {
  const index = formats?.findIndex(format => !KNOWN_FORMATS.has(format)) ?? -1
  if (index === -1) return
  const message = `unknown format; known: ${FORMAT_NAMES.join(', ')}`
  throw new AppError('invalid_request', `formats.${index}: ${message}`, {
    errors: [{ path: `formats.${index}`, message }],
  })
}

function checkBudget(request: EncodeRequest, outcome: Outcome): void {
  const { budget_tokens } = request
  if (budget_tokens === undefined || outcome.tokens <= budget_tokens) return
  throw new AppError(
    'budget_too_small',
    `nothing lossless fits ${budget_tokens} tokens; the smallest takes ${outcome.tokens}`,
    { minimum_tokens: outcome.tokens },
  )
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
    lossless: true,
    ...(resolution?.ref === undefined ? {} : { ref: resolution.ref }),
    hints: [],
    elided: [],
    savings: {
      dedup_tokens: 0,
      encoder_tokens: prices.baseline - outcome.tokens,
      elided_tokens: 0,
    },
    bytes: { raw: Buffer.byteLength(input.content), output: Buffer.byteLength(outcome.content) },
    truncated: false,
    ...(request.pagination === undefined ? {} : { pagination: request.pagination }),
    ...(request.sort === undefined ? {} : { sort: request.sort }),
    partition: resolution?.partition ?? 0,
  }
}
