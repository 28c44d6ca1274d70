import { z } from 'zod'
import { sessionField, tokenCount } from './fields.ts'

const MAX_RECENT = 64

const toolName = z.string().min(1).max(512)

const recentCall = z.strictObject({
  tool: toolName.describe('As the agent calls it, with its prefix: mcp__github__list_issues'),
  args: z.record(z.string(), z.unknown()).optional(),
  result: z.string().optional().describe('The text of the result; without it nothing follows'),
})

/** `POST /v1/plan`: which calls are worth making before the model asks for them. */
export const planRequest = z.strictObject({
  session: sessionField.optional().describe('Accepted; the plan depends on `recent` alone'),
  recent: z.array(recentCall).max(MAX_RECENT).describe('Calls of this agent, the latest last'),
  budget_tokens: tokenCount
    .max(10_000_000)
    .optional()
    .describe('Tokens for all results together; `enrichment.prefetch_budget_tokens` if absent'),
  intent: z.string().max(16_384).optional().describe('What the user wants, in words'),
})

const plannedCall = z.strictObject({
  tool: z.string(),
  args: z.string().nullable().describe('JSON; null: from the result of the call `requires`'),
  requires: z.int().nonnegative().nullable().describe('Index of the call that comes before it'),
  projection: z.string().optional().describe('The key in that result, if `args` is null'),
  projection_arg: z.string().optional().describe('The argument that its value becomes'),
  probability: z.number().min(0).max(1),
  include: z.array(z.string()).nullable().describe('Groups of fields; null: all'),
  cost_tokens: tokenCount,
  value: z.number().nonnegative(),
})

const declinedCall = z.strictObject({
  tool: z.string(),
  args: z.string().nullable(),
  reason: z.string().describe('below_probability, budget, not_speculatable, …'),
})

export const planAnswer = z.strictObject({
  calls: z.array(plannedCall).describe('By falling value for a token'),
  declined: z.array(declinedCall),
  value: z.number().nonnegative(),
  bound: z.number().nonnegative().describe('No plan within the budget has a higher value'),
})

export type PlanRequest = z.output<typeof planRequest>
export type PlanAnswer = z.output<typeof planAnswer>
