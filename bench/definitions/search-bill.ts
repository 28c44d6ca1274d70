import { OUTPUT_PRICE, READ_PRICE, WRITE_PRICES } from '../../src/bill/prices.ts'
import type { BillSession } from '../../src/bill/session.ts'

/** The provider's tokens for one of o200k, and what the model writes to search. */
const FACTOR = 1.34
const ASK_TOKENS = 80

export interface ListCost {
  /** o200k tokens of definitions in each request. */
  readonly definitions: number
  readonly searches: number
  /** o200k tokens of one search's answer. */
  readonly answer: number
}

/**
 * The input bill of a recorded session whose requests have these definitions more, in input tokens
 * that no cache has. A search is one more request: it reads the prompt, writes what it found, and
 * the session keeps that until it is compacted. Searches are spread over the session.
 */
export function billOf(
  { calls }: BillSession,
  { definitions, searches, answer }: ListCost,
): number {
  const more = FACTOR * definitions
  const at = new Set(
    Array.from({ length: searches }, (_, n) => Math.floor((n * calls.length) / searches)),
  )
  let kept = 0
  let bill = 0
  for (const [index, { read, write, hour, fresh, compacted }] of calls.entries()) {
    if (compacted) kept = 0
    const written = WRITE_PRICES.minutes * (write - hour) + WRITE_PRICES.hour * hour
    const price = read > 0 ? READ_PRICE : write > 0 ? written / write : 1
    bill += READ_PRICE * read + written + fresh + price * (more + kept)
    if (!at.has(index)) continue
    const found = FACTOR * answer
    bill += READ_PRICE * (read + write + fresh + more + kept)
    bill += WRITE_PRICES.minutes * (found + ASK_TOKENS) + OUTPUT_PRICE * ASK_TOKENS
    kept += found + ASK_TOKENS
  }
  return bill
}

/** From how many tokens of definitions on searches pay, in these sessions together. */
export function breakEven(sessions: readonly BillSession[], listed: ListCost): number {
  const total = (cost: ListCost) => sessions.reduce((sum, each) => sum + billOf(each, cost), 0)
  const none = { definitions: 0, searches: 0, answer: 0 }
  const perToken = (total({ ...none, definitions: 1_000 }) - total(none)) / 1_000
  return (total(listed) - total(none)) / perToken
}
