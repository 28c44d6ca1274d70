import { z } from 'zod'
import { AppError } from '../base/errors.ts'
import { encodeRequest } from '../contract/encode.ts'
import { parseJson } from '../json/parse-json.ts'
import { equalValues } from '../json/value.ts'
import { decodeContent, referencesOf } from '../pipeline/decode.ts'
import { encodeContent } from '../pipeline/encode-content.ts'
import { explainContent } from '../pipeline/explain.ts'
import type { Operation, OperationContext } from './operation.ts'

const showRequest = encodeRequest
  .pick({ content: true, tool: true, model: true, mode: true, budget_tokens: true })
  .required({ content: true })
  .extend({
    sent: z
      .object({
        content: z.string(),
        format: z.string(),
        /** What it may refer to, by id. */
        earlier: z.record(z.string(), z.string()),
      })
      .optional()
      .describe('What was sent for it. Absent: what would be sent for it alone'),
  })

const part = z.object({
  path: z.string(),
  depth: z.int(),
  chosen: z.string(),
  tokens: z.number(),
  options: z.array(z.object({ way: z.string(), tokens: z.number(), price: z.number() })),
})

const showAnswer = z.object({
  content: z.string(),
  layer: z.string(),
  format: z.string(),
  shape: z.string(),
  tokenizer: z.string(),
  exact: z.boolean(),
  before: z.int(),
  after: z.int(),
  omitted: z.int().describe('Of the tokens that were saved, those of parts that were left out'),
  /**
   * What the text decodes to: the original, a part of it by intention, or something else.
   * `unknown`: it refers to texts that are not there.
   */
  check: z.enum(['same', 'parts', 'differs', 'unknown']),
  parts: z.array(part).describe('At most MOST_PARTS'),
  candidates: z.array(
    z.object({ format: z.string(), tokens: z.number().nullable(), verdict: z.string() }),
  ),
})

export type ShowRequest = z.output<typeof showRequest>
export type SentText = NonNullable<ShowRequest['sent']>
export type ShowAnswer = z.output<typeof showAnswer>

/** Parts that a page shows. */
const MOST_PARTS = 500

/**
 * A result as it would be sent by itself, with how that was chosen and what it decodes to. Nothing
 * of it is kept, reported or remembered.
 */
export const showResultOperation: Operation<ShowRequest, ShowAnswer> = {
  name: 'show_result',
  request: showRequest,
  answer: showAnswer,
  run({ sent, ...request }, context) {
    // Nothing is sent, so no original has to be kept.
    const allowed = { ...context, keepsOriginals: true }
    const { answer } = encodeContent(request, allowed)
    const { parts, candidates } = explainContent(request, allowed)
    return {
      answer: {
        content: sent?.content ?? answer.content,
        layer: answer.layer,
        format: sent?.format ?? answer.format,
        shape: answer.shape,
        tokenizer: answer.tokens.tokenizer,
        exact: answer.tokens.exact,
        before: answer.tokens.baseline,
        after: answer.tokens.final,
        omitted: answer.savings.elided_tokens,
        check:
          sent === undefined && !answer.lossless
            ? 'parts'
            : checkSent(request.content, sent ?? { ...answer, earlier: {} }, context),
        parts: parts.slice(0, MOST_PARTS).map(each => ({ ...each, options: [...each.options] })),
        candidates: candidates.map(({ format, tokens, verdict }) => ({ format, tokens, verdict })),
      },
      reports: [],
    }
  },
}

/** Decodes a text: whether it gives the value that came in, or lacks parts of it. */
export function checkSent(
  original: string,
  { content, format, earlier }: SentText,
  { maxDecodedChars, maxDepth }: Pick<OperationContext, 'maxDecodedChars' | 'maxDepth'>,
): ShowAnswer['check'] {
  let decoded: { readonly content: string }
  try {
    decoded = decodeContent(content, format, maxDecodedChars, ref => earlier[ref])
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const isWhole = referencesIn({ content, format }).every(ref => earlier[ref] !== undefined)
    return isWhole ? 'parts' : 'unknown'
  }
  if (decoded.content === original) return 'same'
  const [sent, came] = [decoded.content, original].map(text => parseJson(text, { maxDepth }))
  return sent!.ok && came!.ok && equalValues(sent!.value, came!.value) ? 'same' : 'differs'
}

/** What a text refers to; none if it is none of ours. */
function referencesIn({
  content,
  format,
}: Pick<SentText, 'content' | 'format'>): readonly string[] {
  try {
    return referencesOf(content, format)
  } catch (error) {
    if (error instanceof AppError) return []
    throw error
  }
}
