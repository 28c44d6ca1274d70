import { attempt } from '../../base/attempt.ts'
import { AppError } from '../../base/errors.ts'
import type { EncodeAnswer } from '../../contract/encode.ts'
import type { Done } from '../../contract/operation-result.ts'
import type { ResponseBudget } from '../../contract/response-budget.ts'
import { PASSTHROUGH } from '../../formats/passthrough.ts'
import { encodeContent } from '../../pipeline/encode-content.ts'
import { DEFAULT_PIPELINE } from '../../pipeline/profile/default-pipeline.ts'
import type { OpenLayer } from '../../pipeline/session-layer.ts'
import { argsOf, type MessageText } from './message-texts.ts'
import type { ConversationContext } from './rewrite-context.ts'

/** A text with its replacement. */
export type Rewritten = Done<EncodeAnswer>

/** The tokenizer that counts. */
export interface Counting {
  readonly tokenizer?: string
  readonly model?: string
}

/**
 * The terms for texts whose markers their reader could not follow, whatever the configuration says.
 */
const WHOLE = { response_budget: 'full' } as const

/** The terms for rewriting a text. */
export interface TextTerms {
  /** Opens the session layer, if the text may refer to earlier results. */
  readonly openLayer?: OpenLayer | undefined
  /** Whether its bulk may be left out, with a marker. */
  readonly mayElide: boolean
  /** The host's wish for it, which holds only if parts may be left out. */
  readonly responseBudget?: ResponseBudget | undefined
  /** Tokens of the conversation before it; needed if the configuration has levels for them. */
  readonly contextTokens?: number | undefined
  /** Whether it must stay unchanged, except that look-alikes of our hints are escaped. */
  readonly isOriginal?: boolean
}

/**
 * The smallest text for a payload, without loss, or with a marker if its bulk may be left out. It
 * depends on the text, the call that it answers, the configuration, and the content that
 * `openLayer` has before it.
 * @throws AppError `invalid_request` for an unknown tokenizer
 */
export function rewriteByItself(
  source: MessageText,
  counting: Counting,
  context: ConversationContext,
  { openLayer, mayElide, responseBudget, contextTokens, isOriginal = false }: TextTerms,
): Rewritten {
  if (isOriginal) return escapeOnly(source, counting, context)
  const request = requestFor(source, counting, context)
  const wish = responseBudget === undefined ? {} : { response_budget: responseBudget }
  // With levels for what the context has, a level alone decides what is left out.
  const { elision } = context.pipeline ?? DEFAULT_PIPELINE
  const mode = elision.in_proxies ? ({ mode: 'elide' } as const) : {}
  const omissions = contextTokens === undefined ? mode : { context_tokens: contextTokens }
  const terms = mayElide && responseBudget !== 'full' ? { ...omissions, ...wish } : WHOLE
  return alone(source, counting, context, () =>
    encodeContent({ ...request, ...terms }, context, openLayer),
  )
}

/**
 * The smallest lossless text for a payload. It depends on the text, the call that it answers, the
 * configuration and what `openLayer` has before it, and on nothing else of the conversation, so
 * that a conversation which continues is written the same way again.
 * @throws AppError `invalid_request` for an unknown tokenizer
 */
export function rewriteLossless(
  source: MessageText,
  counting: Counting,
  context: ConversationContext,
  openLayer?: OpenLayer,
): Rewritten {
  return alone(source, counting, context, () =>
    encodeContent({ ...requestFor(source, counting, context), ...WHOLE }, context, openLayer),
  )
}

/** What the level of a text follows from. */
interface LevelTerms {
  /** The host's own; `undefined` if it has none. */
  readonly wish: ResponseBudget | undefined
  /** Tokens of the conversation before it. */
  readonly contextTokens: number
}

/** The text at the level, or in the tokens, that its host wishes or its context demands. */
export function rewriteAtLevel(
  source: MessageText,
  { wish, contextTokens }: LevelTerms,
  counting: Counting,
  context: ConversationContext,
  openLayer?: OpenLayer,
): Rewritten {
  const request = { ...requestFor(source, counting, context), context_tokens: contextTokens }
  const wished = wish === undefined ? {} : { response_budget: wish }
  return alone(source, counting, context, () =>
    encodeContent({ ...request, ...wished }, context, openLayer),
  )
}

/** The text unchanged if its encode throws: no text ends the request of its neighbours. */
function alone(
  source: MessageText,
  counting: Counting,
  context: ConversationContext,
  encode: () => Rewritten,
): Rewritten {
  return attempt('text', encode, error => {
    if (error instanceof AppError && error.code === 'invalid_request') throw error
    return escapeOnly(source, counting, context)
  })
}

/** The text itself, with everything escaped that looks like a hint of ours. */
export function escapeOnly(
  source: MessageText,
  counting: Counting,
  context: ConversationContext,
): Rewritten {
  const request = { ...requestFor(source, counting, context), ...WHOLE }
  return encodeContent({ ...request, formats: [PASSTHROUGH] }, context)
}

/**
 * The rest of a payload in so many tokens, with a marker. If nothing is so small, the smallest rest
 * that is possible. If nothing may be left out, the lossless text.
 */
export function rewriteWithin(
  source: MessageText,
  lossless: Rewritten,
  tokens: number,
  counting: Counting,
  context: ConversationContext,
): Rewritten {
  const request = requestFor(source, counting, context)
  const trim = (budget_tokens: number) =>
    fewest(() => encodeContent({ ...request, mode: 'trim', budget_tokens }, context))
  const fitted = trim(tokens)
  if ('answer' in fitted) return fitted
  if (fitted.minimum >= lossless.answer.tokens.final) return lossless
  const least = trim(fitted.minimum)
  return 'answer' in least ? least : lossless
}

function requestFor(
  { text, call, callId, isError }: MessageText,
  counting: Counting,
  { terms }: Pick<ConversationContext, 'terms'>,
) {
  const args = call.args === undefined ? undefined : argsOf(call)
  return {
    ...counting,
    content: text,
    ...(call.tool === undefined ? {} : { tool: call.tool }),
    ...(args === undefined ? {} : { args }),
    ...(callId === undefined ? {} : { tool_call_id: callId }),
    ...(isError ? { is_error: true } : {}),
    ...(terms?.isSidechain === true ? { is_sidechain: true } : {}),
  }
}

/** The text, or the fewest tokens that anything of it takes. */
function fewest(encode: () => Rewritten): Rewritten | { readonly minimum: number } {
  try {
    return encode()
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'budget_too_small') throw error
    return { minimum: error.extras.minimum_tokens ?? Number.POSITIVE_INFINITY }
  }
}
