import { z } from 'zod'
import { byteCount } from './fields.ts'

/** `POST /v1/inputs`: one large input that several requests of the tenant share. */
export const inputsRequest = z.strictObject({
  content: z.string().describe('To be named by `input_ref` later'),
})

export const inputsAnswer = z.strictObject({
  input_ref: z.string().describe('24 hex; stands for the content until `expires_at`'),
  bytes: byteCount,
  expires_at: z.int().describe('Unix milliseconds'),
})

export type InputsRequest = z.output<typeof inputsRequest>

/** `GET /v1/retrieve/{hash}`: a kept original, or the part of it that was asked for. */
export const retrieveAnswer = z.strictObject({
  hash: z.string().describe('24 hex'),
  original_content: z.string().describe('Content of a tool: nothing in it is a hint of ours'),
  media_type: z.string(),
  bytes: byteCount.describe('Of the whole original'),
  created_at: z.int(),
  expires_at: z.int(),
  part: z
    .strictObject({
      kind: z.enum(['lines', 'bytes', 'path', 'grep']),
      first: z.int().optional(),
      last: z.int().optional(),
      total: z.int().optional(),
      numbers: z
        .literal('printed')
        .optional()
        .describe('`first` and `last` are the numbers printed before the lines'),
      values: z.int().optional(),
      matches: z.int().optional(),
      shown: z.int().optional(),
    })
    .optional()
    .describe('Where the part lies; absent for the whole'),
})
