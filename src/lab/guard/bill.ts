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
  /** Results of its context between it and the fetch; 0 if absent. */
  readonly fetchedAfter?: number | undefined
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

/** What the results of conversations would be billed together; see `billEach`. */
export function billTurns(results: readonly BilledResult[], prices: TokenPrices): TurnBill {
  const sums = { before: 0, after: 0, fetching: 0 }
  for (const { before, after, fetching } of billEach(results, prices)) {
    sums.before += before
    sums.after += after
    sums.fetching += fetching
  }
  return sums
}

/**
 * What each result of conversations would be billed, with a cache of the prompt. It assumes that
 * each result has a turn of its own: it is written to the cache once, and read in each later turn
 * until the context is compacted. What is fetched stays in the context too, and costs one more
 * turn, which reads all of the prompt.
 */
export function billEach(
  results: readonly BilledResult[],
  prices: TokenPrices,
): readonly TurnBill[] {
  const bills = new Array<TurnBill>(results.length)
  for (const context of contextsOf(results)) {
    const costs = fetchCosts(
      context.map(at => results[at]!),
      prices,
    )
    for (const [i, at] of context.entries()) {
      const { before, after } = results[at]!
      const kept = keptFor(context.length - 1 - i, prices)
      const fetching = costs[i]!
      bills[at] = { before: before * kept, after: after * kept + fetching, fetching }
    }
  }
  return bills
}

/** The price of a token that is written to the cache, and read in so many later turns. */
function keptFor(turns: number, { cache_write, cache_read }: TokenPrices): number {
  return cache_write + cache_read * turns
}

/** The cost of fetching, by the result whose text is fetched. */
function fetchCosts(context: readonly BilledResult[], prices: TokenPrices): readonly number[] {
  const costs = new Array<number>(context.length).fill(0)
  const due = new Map<number, number[]>()
  let prompt = PROMPT_TOKENS
  for (const [i, { after, fetched, fetchedAfter = 0 }] of context.entries()) {
    prompt += after
    if (fetched > 0) {
      const at = Math.min(context.length - 1, i + fetchedAfter)
      due.set(at, [...(due.get(at) ?? []), i])
    }
    for (const owner of due.get(i) ?? []) {
      const { fetched: tokens } = context[owner]!
      const turn = prices.cache_read * prompt + prices.output * OUTPUT_TOKENS + CALL_TOKENS
      costs[owner] = tokens * keptFor(context.length - 1 - i, prices) + turn
      prompt += tokens
    }
  }
  return costs
}

/** The places of the results that a prompt has together, in their order. */
function contextsOf(results: readonly BilledResult[]): readonly (readonly number[])[] {
  const contexts: number[][] = []
  const bySession = new Map<string, { readonly epoch: number; readonly context: number[] }>()
  for (const [at, { session, epoch = 0 }] of results.entries()) {
    const known = session === undefined ? undefined : bySession.get(session)
    if (known !== undefined && known.epoch === epoch) {
      known.context.push(at)
      continue
    }
    const context = [at]
    contexts.push(context)
    if (session !== undefined) bySession.set(session, { epoch, context })
  }
  return contexts
}
