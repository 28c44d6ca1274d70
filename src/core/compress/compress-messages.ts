import type { OperationContext } from '../operations/operation.ts'
import { DEFAULT_PIPELINE } from '../profile/pipeline-config.ts'
import type { CompressRequest } from '../requests/compress.ts'
import { resolveTokenizer } from '../tokens/resolve.ts'
import { type MessageText, mapTexts } from './message-texts.ts'
import { isRedeeming } from './redeeming-tools.ts'
import { type Counting, type Rewritten, rewriteLossless, rewriteWithin } from './rewrite-text.ts'
import { cutToFit } from './share-budget.ts'

/** A text payload of the conversation: its tokens, and what stands for it; `null` where it stays as it is. */
export interface Payload {
  readonly source: MessageText
  readonly tokens: number
  readonly rewritten: Rewritten | null
}

/** A conversation with smaller texts. */
export interface Compressed {
  readonly messages: unknown[]
  readonly payloads: readonly Payload[]
}

/**
 * Rewrites the texts of a conversation: tool results, and the texts of those roles that the request names, each without
 * loss; where there is a budget and the client can fetch what is missing, tool results that are no errors are then cut to fit.
 * @throws AppError `invalid_request` for an unknown tokenizer
 */
export function compressMessages(request: CompressRequest, context: OperationContext): Compressed {
  const { messages, token_budget: budget } = request
  const { redeems = false, bypass = false } = context.terms ?? {}
  const counting = countingOf(request)
  const counter = context.counters.get(resolveTokenizer(counting))
  const { redeem_tools: redeemTools } = (context.pipeline ?? DEFAULT_PIPELINE).elision
  const payloads = textsOf(messages).map((source): Payload => {
    if (bypass || !isRewritten(source, request, redeemTools)) {
      return { source, tokens: counter.count(source.text), rewritten: null }
    }
    const rewritten = rewriteLossless(source, counting, context)
    return { source, tokens: rewritten.answer.tokens.baseline, rewritten }
  })
  const fitted =
    typeof budget === 'number' && redeems && context.keepsOriginals
      ? fitBudget(payloads, budget, (payload, lossless, tokens) =>
          rewriteWithin(payload.source, lossless, tokens, counting, context),
        )
      : payloads
  let next = 0
  const written = mapTexts(
    messages,
    ({ text }) => fitted[next++]?.rewritten?.answer.content ?? text,
  )
  return { messages: written, payloads: fitted }
}

function countingOf({ tokenizer, model }: CompressRequest): Counting {
  return {
    ...(tokenizer === undefined ? {} : { tokenizer }),
    ...(typeof model === 'string' ? { model } : {}),
  }
}

function textsOf(messages: readonly unknown[]): MessageText[] {
  const found: MessageText[] = []
  mapTexts(messages, source => {
    found.push(source)
    return source.text
  })
  return found
}

function isRewritten(
  { from, call }: MessageText,
  { config }: CompressRequest,
  redeemTools: readonly string[],
): boolean {
  if (from === 'user') return config?.compress_user_messages === true
  if (from === 'system') return config?.compress_system_messages === true
  return from === 'tool' && !isRedeeming(call.tool, redeemTools)
}

/** The payloads with tool results cut so that all payloads fit, as far as that goes. */
function fitBudget(
  payloads: readonly Payload[],
  budget: number,
  cut: (payload: Payload, lossless: Rewritten, tokens: number) => Rewritten,
): readonly Payload[] {
  const fitted = [...payloads]
  const places = payloads.flatMap(({ source, rewritten }, index) =>
    rewritten !== null && source.from === 'tool' && !source.isError ? [{ index, rewritten }] : [],
  )
  const sizes = places.map(({ rewritten }) => rewritten.answer.tokens.final)
  const others = tokensAfter(payloads) - sizes.reduce((sum, size) => sum + size, 0)
  cutToFit(sizes, budget - others, (place, tokens) => {
    const { index, rewritten: lossless } = places[place]!
    const payload = payloads[index]!
    const rewritten = cut(payload, lossless, tokens)
    fitted[index] = { ...payload, rewritten }
    return rewritten.answer.tokens.final
  })
  return fitted
}

/** Tokens of all payloads as they are written. */
export function tokensAfter(payloads: readonly Payload[]): number {
  return payloads.reduce(
    (sum, { tokens, rewritten }) => sum + (rewritten?.answer.tokens.final ?? tokens),
    0,
  )
}
