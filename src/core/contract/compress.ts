import { z } from 'zod'
import { readingField, tokenCount, tokenizerFields } from './fields.ts'
import { responseBudget } from './response-budget.ts'

/** Looked at field by field where it is used, so that whatever a vendor adds passes. */
const message = z
  .unknown()
  .refine(value => typeof value === 'object' && value !== null && !Array.isArray(value), {
    error: 'expected an object',
  })
  .meta({ type: 'object' })

/**
 * `POST /v1/compress`: a conversation in the message shape of OpenAI or Anthropic. Of other
 * fields only those have an effect that let a vendor leave out earlier results: then none refers to
 * another.
 */
export const compressRequest = z.looseObject({
  messages: z
    .array(message)
    .describe(
      'In the shape of OpenAI or Anthropic; may be mixed. A text part may have an ' +
        '`input_ref`, kept with /v1/inputs, in place of its text',
    ),
  tokenizer: tokenizerFields.tokenizer,
  model: z.string().nullish().describe('Model id, resolved to a tokenizer profile'),
  token_budget: z
    .int()
    .nonnegative()
    .nullish()
    .describe('For keys that redeem: tool results are trimmed towards it'),
  response_budget: responseBudget.nullish().describe('For keys that redeem: of each tool result'),
  reading: readingField.nullish(),
  config: z
    .looseObject({
      compress_user_messages: z.boolean().nullish(),
      compress_system_messages: z.boolean().nullish(),
      references: z
        .boolean()
        .nullish()
        .describe('For clients that send the whole conversation: results refer to earlier ones'),
    })
    .nullish()
    .describe('Whose texts are encoded too, without losing anything; references'),
})

const count = z.int().nonnegative()

export const compressAnswer = z.strictObject({
  messages: z.array(message),
  tokens_before: tokenCount.describe('Of all text payloads, before'),
  tokens_after: tokenCount,
  tokens_saved: tokenCount,
  compression_ratio: z.number().min(0).max(1).describe('tokens_after / tokens_before'),
  transforms_applied: z.array(z.string()).describe('Formats of the texts that were rewritten'),
  inputs: z
    .strictObject({ kept: count, uses: count })
    .optional()
    .describe('Kept inputs among the texts, and how often they stand there'),
  ccr_hashes: z.array(z.string()).describe('24 hex each; what GET /v1/retrieve/{hash} gives back'),
})

export type CompressRequest = z.output<typeof compressRequest>
export type CompressAnswer = z.output<typeof compressAnswer>
