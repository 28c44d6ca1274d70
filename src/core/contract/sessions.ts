import { z } from 'zod'
import { HINT_FAMILIES } from '../hints/hint-policy.ts'
import { sessionField, tokenCount } from './fields.ts'

/** Most of a list that one request may name. */
const MAX_NAMED = 1_000

const count = z.int().nonnegative()
const time = z.int().nonnegative().describe('Unix milliseconds')

/** What a session has seen and been sent since it began, or since the service did. */
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
