import { z } from 'zod'

/** Most jobs in one batch; the body limit bounds their bytes. */
const MAX_BATCH_JOBS = 1_000

/**
 * `POST /v1/batch`: jobs are validated one by one, so that one bad job does not spoil the others.
 */
export const batchRequest = z.strictObject({
  jobs: z
    .array(z.record(z.string(), z.unknown()))
    .max(MAX_BATCH_JOBS)
    .describe('Each with `op` (encode, decode, count or knapsack) and the fields of that route'),
})

export const batchAnswer = z.strictObject({
  results: z.array(z.looseObject({ ok: z.boolean() })).describe('In the order of the jobs'),
})

export type BatchRequest = z.output<typeof batchRequest>
export type BatchAnswer = z.output<typeof batchAnswer>
