import { z } from 'zod'
import { HINT_FAMILIES } from '../hints/hint.ts'
import { encodeRequest } from './encode.ts'
import { sessionField, tokenCount } from './fields.ts'

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
    content: true,
    input_ref: true,
  })
  .extend({ session: sessionField })

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

/** Most of a list that one request may name. */
const MAX_NAMED = 1_000

const count = z.int().nonnegative()
const time = z.int().nonnegative().describe('Unix milliseconds')

/** Counts of a session's results and hints since it began, or since the service started. */
export const sessionSummary = z.strictObject({
  session: sessionField,
  partition: count.describe('Compactions so far'),
  results: count,
  entries: count.describe('Results that may be referred to now'),
  references: z.strictObject({ exact: count, near: count, lines: count }),
  tokens: z.strictObject({ baseline: tokenCount, final: tokenCount }),
  savings: z.strictObject({
    exact_tokens: tokenCount,
    near_tokens: tokenCount,
    lines_tokens: tokenCount,
    encoder_tokens: tokenCount,
    elided_tokens: tokenCount,
  }),
  hints: z.record(z.enum(HINT_FAMILIES), count).describe('Answers with hints of a family'),
  opened_at: time,
  seen_at: time,
})

/** `POST /v1/sessions/{id}/compaction`: the agent's context was compacted. */
export const compactionAnswer = z.strictObject({ session: sessionField, partition: count })

/** `POST /v1/sessions/{id}/invalidate`: what these files and tools gave is stale. */
export const invalidateRequest = z.strictObject({
  file_paths: z.array(z.string().min(1).max(4096)).max(MAX_NAMED).optional(),
  tools: z.array(z.string().min(1).max(512)).max(MAX_NAMED).optional(),
})

export const invalidateAnswer = z.strictObject({
  session: sessionField,
  invalidated: count.describe('Results that are not referred to as a whole any more'),
})

export type SessionSummaryAnswer = z.output<typeof sessionSummary>
export type InvalidateRequest = z.output<typeof invalidateRequest>
