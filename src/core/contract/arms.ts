import { z } from 'zod'

const count = z.int().nonnegative()
const tokens = z.number()
const share = z.number().min(0).max(1)

const estimate = z
  .strictObject({ estimate: z.number(), low: z.number(), high: z.number() })
  .describe('95 % at any time, however often one looks')

const kinds = z.strictObject({
  results: count,
  retrieval: count.describe('Calls that fetched what was left out'),
  same_call: count.describe('The same call again'),
  same_file: count.describe('Other calls that showed lines of it again'),
  failed_edit: count.describe('Edits of its file that failed'),
  turns: count.describe('Follow-ups that took a turn of their own'),
})

const verdict = z.enum(['saves', 'costs', 'unknown'])

/** `GET /v1/arms`. */
export const armsAnswer = z.strictObject({
  settings: z.strictObject({ holdout: share, explore: share, revert: z.literal(true) }),
  since: count.describe('Unix milliseconds'),
  classes: z
    .array(
      z.strictObject({
        class: z.string(),
        elided: kinds,
        whole: kinds,
        direct: tokens.describe('Tokens that were left out'),
        retrieved: tokens.describe('What fetching them back cost, with its turns'),
        excess: tokens.describe('What else agents called more often than after whole results'),
        net: estimate.nullable().describe('direct − retrieved − excess; null: too few results'),
        follow_ups: estimate
          .nullable()
          .describe('By how much a larger share of results had a follow-up'),
        verdict,
        missing: count.describe('More results, about, until it can be said; 0: it can'),
        alarm_at: count
          .nullable()
          .describe('When its elision was found to cost more than it saves'),
      }),
    )
    .describe('Classes whose results would be elided'),
  units: z
    .strictObject({
      treated: count,
      held_out: count,
      differences: z.array(
        z.strictObject({
          measure: z.enum(['results', 'tokens', 'saved', 'again', 'failed_edits']),
          difference: z.number().describe('Treated less held out, in the mean of a session'),
          p: z.number().describe('How often chance alone makes one as large: 2,000 redraws'),
        }),
      ),
    })
    .describe('Sessions whose arm was drawn, the newest 2,000'),
})

export type ArmsAnswer = z.output<typeof armsAnswer>
