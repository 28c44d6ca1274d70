import { z } from 'zod'
import { askedTenant } from './savings.ts'

const count = z.int().nonnegative()

/** `GET /v1/gain`. */
export const gainQuery = z.strictObject({
  days: z.coerce
    .number()
    .int()
    .min(1)
    .max(3_650)
    .default(30)
    .describe('The last days, today included'),
  project: z.string().max(64).optional().describe('Only this one; empty: only what has none'),
  tenant: askedTenant,
})

const sums = {
  results: count.describe('Tool results, each once'),
  before: count.describe('Their tokens as tools gave them'),
  referred: z.int().describe('Tokens that references saved'),
  encoded: z.int().describe('Tokens that formats saved'),
  omitted: z.int().describe('Tokens that were left out'),
  fetched: count.describe('How often something left out was fetched'),
  requests: count.describe('That a vendor answered'),
  unknown: count.describe('Requests whose answers did not say what they used'),
  prefix_changes: count.describe('Requests after which an earlier turn was sent otherwise'),
  billed: z.number().describe('In uncached input tokens, by the figures of the providers'),
  without: z.number().describe('The same as the requests came, by estimate'),
  billed_money: z.number(),
  without_money: z.number(),
}

const parts = z
  .array(
    z.strictObject({
      name: z.string().describe('Empty: none is known'),
      currency: z.string().describe('Of the sums in money; empty: no price was known'),
      ...sums,
    }),
  )
  .describe('They add up to the whole')

export const gainAnswer = z.strictObject({
  ledger: z.string().describe('Names the ledger, so that it is not read twice'),
  from: z.int().describe('The first day, in days since 1970'),
  to: z.int().describe('The last day'),
  by: z.strictObject({
    day: parts.describe('Named by days since 1970'),
    tenant: parts,
    way: parts,
    project: parts,
    agent: parts,
    model: parts,
    tool: parts,
  }),
})

export type GainAnswer = z.output<typeof gainAnswer>
export type GainDimension = keyof GainAnswer['by']
export type GainPart = GainAnswer['by']['day'][number]
