import { z } from 'zod'

/**
 * Longest time that a client may let the solver work; below the default of `limits.job_timeout_ms`.
 */
const MAX_TIME_LIMIT_MS = 10_000

const id = z.string().max(256)

const option = z.strictObject({
  id,
  cost: z.int().nonnegative(),
  value: z.number().nonnegative(),
})

const knapsackClass = z.strictObject({
  id,
  required: z.boolean().optional().describe('Whether one of its options must be picked'),
  options: z.array(option),
})

/**
 * `POST /v1/knapsack`: at most one option a class, within the budget, worth as much as possible.
 */
export const knapsackRequest = z.strictObject({
  classes: z.array(knapsackClass),
  budget: z.int().nonnegative(),
  time_limit_ms: z.int().min(1).max(MAX_TIME_LIMIT_MS).optional().describe('Default 1000'),
})

export const knapsackAnswer = z.strictObject({
  picks: z.record(z.string(), z.string().nullable()).describe("Every class's option, or null"),
  cost: z.int().nonnegative(),
  value: z.number().nonnegative(),
  optimal: z.boolean().describe('Whether it is proven that nothing better fits'),
  upper_bound: z.number().nonnegative().describe('Nothing that fits is worth more'),
})

export type KnapsackRequest = z.output<typeof knapsackRequest>
export type KnapsackAnswer = z.output<typeof knapsackAnswer>
