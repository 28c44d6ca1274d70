import { z } from 'zod'
import { encodeRequest } from './encode.ts'
import { sessionField } from './fields.ts'

/** `POST /v1/dedup`: whether a session has seen a result already. Records it. */
export const dedupRequest = encodeRequest
  .pick({
    tool: true,
    args: true,
    tool_call_id: true,
    file_path: true,
    is_error: true,
    is_sidechain: true,
    model: true,
    tokenizer: true,
  })
  .extend({ session: sessionField, content: z.string() })

export const dedupAnswer = z.strictObject({
  kind: z.enum(['exact', 'near', 'none']),
  ref: z
    .string()
    .optional()
    .describe('8 hex or more; present when the body was recorded, or is known'),
  of: z.string().optional().describe('The ref of the earlier result'),
  hint: z.string().optional().describe('The line that may stand for the content'),
  partition: z.int().nonnegative(),
})

export type DedupRequest = z.output<typeof dedupRequest>
export type DedupAnswer = z.output<typeof dedupAnswer>
