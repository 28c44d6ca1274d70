import { z } from 'zod'
import { encodeRequest } from '../contract/encode.ts'
import { parseJson } from '../json/parse-json.ts'
import { equalValues } from '../json/value.ts'
import { decodeContent } from '../pipeline/decode.ts'
import { encodeContent } from '../pipeline/encode-content.ts'
import { explainContent } from '../pipeline/explain.ts'
import type { Operation, OperationContext } from './operation.ts'

const showRequest = encodeRequest
  .pick({ content: true, tool: true, model: true, mode: true, budget_tokens: true })
  .required({ content: true })

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
  /** What the text decodes to: the original, a part of it by intention, or something else. */
  check: z.enum(['same', 'parts', 'differs']),
  parts: z.array(part).describe('At most MOST_PARTS'),
  candidates: z.array(
    z.object({ format: z.string(), tokens: z.number().nullable(), verdict: z.string() }),
  ),
})

export type ShowRequest = z.output<typeof showRequest>
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
  run(request, context) {
    // Nothing is sent, so no original has to be kept.
    const { telemetry: _, ...allowed } = { ...context, keepsOriginals: true }
    const { answer } = encodeContent(request, allowed)
    const { parts, candidates } = explainContent(request, allowed)
    return {
      answer: {
        content: answer.content,
        layer: answer.layer,
        format: answer.format,
        shape: answer.shape,
        tokenizer: answer.tokens.tokenizer,
        exact: answer.tokens.exact,
        before: answer.tokens.baseline,
        after: answer.tokens.final,
        omitted: answer.savings.elided_tokens,
        check: answer.lossless ? checkOf(request.content, answer, context) : 'parts',
        parts: parts.slice(0, MOST_PARTS).map(each => ({ ...each, options: [...each.options] })),
        candidates: candidates.map(({ format, tokens, verdict }) => ({ format, tokens, verdict })),
      },
      reports: [],
    }
  },
}

/** Whether the text decodes to the value that came in. */
function checkOf(
  original: string,
  { content, format }: { readonly content: string; readonly format: string },
  { maxDecodedChars, maxDepth }: OperationContext,
): ShowAnswer['check'] {
  const decoded = decodeContent(content, format, maxDecodedChars, () => undefined)
  if (decoded.content === original) return 'same'
  const [sent, came] = [decoded.content, original].map(text => parseJson(text, { maxDepth }))
  return sent!.ok && came!.ok && equalValues(sent!.value, came!.value) ? 'same' : 'differs'
}
