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
