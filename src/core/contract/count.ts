import { z } from 'zod'
import { tokenCount, tokenizerFields, tokensUsed } from './fields.ts'

/** `POST /v1/count`: exactly one of `content`, `contents` and `input_ref`. */
export const countRequest = z.strictObject({
  content: z.string().optional(),
  contents: z.array(z.string()).max(100_000).optional(),
  input_ref: z.string().max(64).optional().describe('Instead of content: kept with /v1/inputs'),
  ...tokenizerFields,
})

export const countAnswer = z.strictObject({
  tokens: tokenCount.optional().describe('For `content` and `input_ref`'),
  counts: z.array(tokenCount).optional().describe('For `contents`, in order'),
  ...tokensUsed,
})

export type CountRequest = z.output<typeof countRequest>
export type CountAnswer = z.output<typeof countAnswer>
