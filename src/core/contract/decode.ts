import { z } from 'zod'
import { sessionField } from './fields.ts'

/** `POST /v1/decode`: an encode answer's text, back to the value that it represents. */
export const decodeRequest = z.strictObject({
  content: z.string(),
  format: z.string().max(128).describe('The `format` of the encode answer'),
  session: sessionField.optional(),
})

export const decodeAnswer = z.strictObject({
  content: z.string().describe('Compact JSON where the input was JSON, else the same text'),
  media_type: z.enum(['application/json', 'text/plain']),
})

export type DecodeRequest = z.output<typeof decodeRequest>
export type DecodeAnswer = z.output<typeof decodeAnswer>
