import type { TokenPrices } from '../../core/conversation/usage/billing.ts'

/** What a recorded result was, and what it became. */
export interface BilledResult {
  /** Absent: a conversation of its own. */
  readonly session?: string | undefined
  /** Compactions of the agent's context before it. */
  readonly epoch?: number | undefined
  readonly before: number
  readonly after: number
  /** Tokens of what is fetched of it again; 0 if nothing is. */
  readonly fetched: number
}

/** In uncached input tokens of the model: an estimate. */
export interface TurnBill {
  readonly before: number
  /** With what fetching costs. */
  readonly after: number
  /** What fetching costs: the text, a turn over the prompt, the call. */
  readonly fetching: number
}

/** Approximate tokens of the call that fetches, and of the frame of its result. */
export const CALL_TOKENS = 150
/** Approximate tokens of the model's answer that has the call. */
const OUTPUT_TOKENS = 100
/** Approximate tokens of a prompt before the first result: the instructions and tools. */
const PROMPT_TOKENS = 15_000

/**
 * What the results of conversations would be billed, with a cache of the prompt. It assumes that
 * each result has a turn of its own: it is written to the cache once, and read in each later turn
 * until the context is compacted. What is fetched costs one more turn, which reads all of the
 * prompt.
 */
export function billTurns(results: readonly BilledResult[], prices: TokenPrices): TurnBill {
  const bill = { before: 0, after: 0, fetching: 0 }
  for (const context of contextsOf(results)) {
    let prompt = PROMPT_TOKENS
    for (const [i, { before, after, fetched }] of context.entries()) {
      const kept = prices.cache_write + prices.cache_read * (context.length - 1 - i)
      bill.before += before * kept
      bill.after += after * kept
      prompt += after
      if (fetched === 0) continue
      const turn = prices.cache_read * prompt + prices.output * OUTPUT_TOKENS + CALL_TOKENS
      bill.fetching += fetched * kept + turn
      prompt += fetched
    }
  }
  return { ...bill, after: bill.after + bill.fetching }
}

/** The results that a prompt has together, in their order. */
function contextsOf(results: readonly BilledResult[]): readonly (readonly BilledResult[])[] {
  const contexts: BilledResult[][] = []
  const bySession = new Map<string, { readonly epoch: number; readonly context: BilledResult[] }>()
  for (const result of results) {
    const { session, epoch = 0 } = result
    const known = session === undefined ? undefined : bySession.get(session)
    if (known !== undefined && known.epoch === epoch) {
      known.context.push(result)
      continue
    }
    const context = [result]
    contexts.push(context)
    if (session !== undefined) bySession.set(session, { epoch, context })
  }
  return contexts
}
