import { countTokens } from '../../src/lab/bill/play.ts'
import { OUTPUT_PRICE, READ_PRICE, WRITE_PRICES } from '../../src/lab/bill/prices.ts'
import type { BillCall, BillSession } from '../../src/lab/bill/session.ts'
import { type Conversation, conversationsOf } from '../turns/conversations.ts'

/** What stands before the conversation, in the provider's tokens: the recorded median. */
const OPENING_TOKENS = 42_000
const FACTOR = 1.15
/** Output's share of the bill. */
const OUTPUT_SHARE = 0.125
const MODEL = 'simulated'

/** Sessions of a corpus that have no usage, as a provider would have counted them. */
export function simulatedSessions(
  corpus: string,
  recorded: readonly BillSession[],
): readonly BillSession[] {
  const known = new Set(recorded.map(({ name }) => name))
  return conversationsOf(corpus)
    .filter(({ steps }) => !known.has(steps[0]!.session))
    .map(simulate)
}

/** One result a call. */
export function simulate({ name, steps }: Pick<Conversation, 'name' | 'steps'>): BillSession {
  let prompt = OPENING_TOKENS
  const calls = steps.map((step, at): BillCall => {
    const called = countTokens(JSON.stringify(step.args ?? {}))
    const grown = Math.round(FACTOR * (countTokens(step.text) + called))
    const read = at === 0 ? 0 : prompt
    const write = at === 0 ? prompt + grown : grown
    prompt += grown
    const input = READ_PRICE * read + WRITE_PRICES.minutes * write
    const output = Math.round((OUTPUT_SHARE / (1 - OUTPUT_SHARE)) * (input / OUTPUT_PRICE))
    return {
      ...{ ts: at + 1, end: at + 1, model: MODEL, fresh: 0, read, write, hour: 0, output },
      ...{ said: 0, calls: called, user: 0, userTexts: 0, compacted: false },
      results: [step],
    }
  })
  return { name, calls }
}
