import { CACHE_LIFE_MS } from './view.ts'

/** Prices of a token, in tokens that no cache has. */
const READ = 0.1
const WRITE = 1.25
const OUTPUT = 5
/** Tokens of a call that fetches, and of a call more. */
const FETCH_OUTPUT = 150
const EXTRA_TOKENS = 750
/** About, of what was sent. */
const CHARS_OF_TOKEN = 3.5
/** Tokens of a stub. */
const STUB_TOKENS = 30

/** One call and its result. */
export interface Turn {
  readonly at: number | undefined
  readonly call: number
  readonly result: number
  /** Characters of results that were cleared before it. */
  readonly removed: readonly number[]
  /** Tokens of parts that were fetched before it. */
  readonly fetched: readonly number[]
  readonly isCut: boolean
}

interface BillTerms {
  readonly prompt: number
  /** Results of one turn. */
  readonly results: number
  /** Calls more for each result that lacks parts. */
  readonly extra: number
}

/** What a conversation costs with prompt caches. */
export function billOf(turns: readonly Turn[], { prompt, results, extra }: BillTerms): number {
  let cached = 0
  let size = prompt
  let bill = 0
  let last: number | undefined
  const ask = (output: number) => {
    bill += cached * READ + (size - cached) * WRITE + output * OUTPUT
    cached = size
  }
  turns.forEach(({ at, call, result, removed, fetched, isCut }, index) => {
    if (at !== undefined && last !== undefined && at - last > CACHE_LIFE_MS) cached = 0
    last = at ?? last
    const gone = removed.reduce((sum, chars) => sum + chars / CHARS_OF_TOKEN - STUB_TOKENS, 0)
    size -= Math.max(0, gone)
    for (const part of fetched) {
      ask(FETCH_OUTPUT)
      size += part + FETCH_OUTPUT
    }
    if (index % results === 0) ask(call)
    else bill += call * OUTPUT
    size += call + result
    if (isCut && extra > 0) {
      bill += extra * (size * READ + EXTRA_TOKENS * WRITE + FETCH_OUTPUT * OUTPUT)
      size += extra * EXTRA_TOKENS
    }
  })
  return bill
}
