import { z } from 'zod'
import { TENANT_NAME } from '../base/tenant-name.ts'
import { VENDOR_NAMES } from '../dialects/lookup.ts'
import { TOKENIZER_IDS } from '../tokens/profiles.ts'
import { tokenCount } from './fields.ts'

/** Conversations in an answer, if the request names no limit. */
const DEFAULT_LIMIT = 50
const MAX_LIMIT = 200

/** A session as its agent calls it: Claude Code in the header `X-Claude-Code-Session-Id`. */
export const agentSession = z.string().regex(/^[\w.:-]{1,128}$/, '1 to 128 letters, digits, _.:-')

/** Whose figures a request asks for. */
export const askedTenant = z
  .union([z.literal('*'), z.string().regex(TENANT_NAME)])
  .optional()
  .describe('Another tenant, or `*`: the sum of all that have keys; needs the scope `read-all`')

/** `GET /v1/savings`. */
export const savingsQuery = z.strictObject({
  conversation: z
    .string()
    .regex(/^[0-9a-f]{16}$/, '16 hex digits')
    .optional()
    .describe('Only this one: 16 hex digits'),
  session: agentSession
    .optional()
    .describe('Only those of this session, as the agent calls it; then `session` has their sum'),
  tenant: askedTenant,
  limit: z.coerce
    .number()
    .int()
    .min(0)
    .max(MAX_LIMIT)
    .default(DEFAULT_LIMIT)
    .describe('Conversations in the answer, those that were active last'),
})

const count = z.int().nonnegative()
const time = z.int().nonnegative().describe('Unix milliseconds')
const vendor = z.enum(VENDOR_NAMES)

const bill = {
  billed: z.number().describe("By the provider's figures"),
  without: z.number().describe('As the requests came, by estimate'),
  saving: z.number().describe('The difference; below 0 where the proxy did harm'),
}

/** The figures that every report of savings has, under the same names. */
const figures = z
  .strictObject({
    results: z
      .strictObject({
        count: count.describe('Tool results, each once'),
        before: count.describe('Their tokens, as the client sent them'),
        after: count.describe('Their tokens, as they were sent to the vendor'),
      })
      .describe('By the tokenizer of the service'),
    requests: z
      .strictObject({
        count: count.describe('That the vendor answered'),
        before: count.describe('Tokens of their prompts with what was removed'),
        after: count.describe('Tokens of their prompts by the figures of the vendor'),
      })
      .describe('A history counts in each request again'),
    billed: z
      .strictObject({ before: z.number(), after: z.number() })
      .nullable()
      .describe('In uncached input tokens; null if no answer reported its usage'),
  })
  .describe('Results, requests, billed: the same three figures as in every report')

/** Why a provider did not read what it had cached; the first that holds. */
export const MISS_REASONS = [
  'idle',
  'own',
  'model',
  'tools',
  'system',
  'first_message',
  'settings',
  'history',
  'blocks',
  'provider',
] as const

const misses = z
  .array(
    z.strictObject({
      reason: z.enum(MISS_REASONS),
      count: count.describe('Requests'),
      tokens: tokenCount.describe('That were cached and not read'),
      cost: z.number().describe('Above reading them, in uncached input tokens'),
    }),
  )
  .describe('Misses of the prompt cache, each by the first reason that holds')

const life = z
  .strictObject({
    pings: count.describe('Requests of ours that kept a cache alive'),
    premium: z.number().describe('Paid for an hour instead of minutes'),
    pinged: z.number().describe('Paid for pings'),
    avoided: z.number().describe('What misses would have cost that there were none of'),
    saving: z.number().describe('The difference; below 0 it was a loss'),
  })
  .describe('What longer lives of caches cost and brought, in uncached input tokens')

const definitions = z
  .strictObject({
    requests: count.describe('Whose definitions were counted'),
    tokens: tokenCount.describe('Of definitions, as clients sent them'),
    used: tokenCount.describe('The part of tools that their conversations called'),
    deferred: z.int().describe('Spared by cache_align.defer, less what it added'),
    searches: count.describe('That loaded a deferred tool'),
    spared: z.number().describe('What deferred tools would have cost'),
    searched: z.number().describe('What searches cost'),
    saving: z.number().describe('The difference; below 0 it was a loss'),
  })
  .describe('Definitions of tools, anew in each request; costs in uncached input tokens')

const account = {
  figures,
  requests: count.describe('That the vendor answered'),
  without_usage: count.describe('Of these, ones whose answers did not say what they used'),
  usage: z
    .strictObject({
      uncached_tokens: tokenCount,
      cache_read_tokens: tokenCount,
      cache_write_tokens: tokenCount,
      cache_write_long_tokens: tokenCount,
      output_tokens: tokenCount,
    })
    .describe("The provider's figures"),
  removed: z
    .array(
      z.strictObject({ tokenizer: z.enum(TOKENIZER_IDS), exact: z.boolean(), tokens: z.int() }),
    )
    .describe('Tokens that requests were spared, less those of our tool; anew in each turn'),
  misses,
  life: life.optional(),
  definitions: definitions.optional(),
  input_tokens: z.strictObject(bill).describe('In uncached input tokens of the model'),
  money: z
    .strictObject({ requests: count, currency: z.string(), ...bill })
    .optional()
    .describe('Over the requests of models whose price is configured'),
}

const prices = z.strictObject({
  uncached: z.literal(1),
  cache_read: z.number(),
  cache_write: z.number(),
  cache_write_long: z.number(),
  output: z.number(),
  per_million: z.number().optional().describe('Of uncached input tokens, in money'),
})

export const savingsAnswer = z.strictObject({
  scope: z.literal('proxies').describe('Other operations are not part of it'),
  baseline: z.string().describe('What the saving is measured against'),
  since: time,
  vendors: z.partialRecord(vendor, z.strictObject(account)),
  conversations: z.array(
    z.strictObject({
      conversation: z.string(),
      session: z.string().optional().describe('As the agent calls it, if it says so'),
      vendor,
      model: z.string().nullable(),
      first_at: time,
      last_at: time,
      changed: z
        .strictObject({ place: z.string(), kind: z.string() })
        .optional()
        .describe('What the client changed when a cache was lost last; never its text'),
      ...account,
    }),
  ),
  session: z
    .strictObject({ session: z.string(), ...account })
    .optional()
    .describe('The sum of the conversations of the session that was asked for'),
  budgets: z
    .array(
      z.strictObject({
        period: z.enum(['day', 'month']),
        of: z.string().describe('The day or month (UTC)'),
        amount: z.number(),
        spent: z.number(),
      }),
    )
    .optional()
    .describe('How far the budgets of the tenant are used, in the currency of the prices'),
  other_lives: z
    .array(
      z.strictObject({
        conversations: count,
        input: z.number().describe('What their input cost, in uncached input tokens'),
        hour: z.number().describe('What caches of an hour would have saved; below 0 they cost'),
        guarded: z.number().describe('The same of cache_life.life = "auto"'),
      }),
    )
    .describe('What the last conversations of each agent would have cost with longer lives'),
  prices: z
    .record(z.string(), prices)
    .describe('Of now, by vendor, and vendor/prefix of models that have their own'),
})

export type SavingsQuery = z.output<typeof savingsQuery>
export type SavingsAnswer = z.output<typeof savingsAnswer>
