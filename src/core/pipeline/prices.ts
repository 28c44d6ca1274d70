import type { TokenCounter } from '../tokens/counter.ts'
import { PROFILES, type TokenizerId } from '../tokens/profiles.ts'

/** Token prices of one input's candidates, under the promise that nothing gets bigger. */
export interface Prices {
  readonly counter: TokenCounter
  /** Tokens of the unchanged input. */
  readonly baseline: number
  /**
   * Tokens of a candidate, or `null` if it does not save any.
   * @param counted its tokens, if the counter has counted them
   */
  price(candidate: string, counted?: number): number | null
}

/** If an estimate decides, these exact counters must agree that the candidate is smaller. */
const WITNESSES: readonly TokenizerId[] = ['o200k_base', 'cl100k_base']

/**
 * Prices by the tokenizer `id`; an estimated one needs every witness to see a saving too (promise
 * 2).
 */
export function createPrices(
  content: string,
  id: TokenizerId,
  counters: { get(id: TokenizerId): TokenCounter },
): Prices {
  const counter = counters.get(id)
  const baseline = counter.count(content)
  const witnesses = counter.exact ? [] : witnessesOf(id).map(witness => counters.get(witness))
  let witnessed: number[] | undefined

  const seenSmaller = (candidate: string): boolean => {
    witnessed ??= witnesses.map(witness => witness.count(content))
    return witnesses.every(
      (witness, index) => below(witness, candidate, witnessed?.[index] ?? 0) !== null,
    )
  }

  return {
    counter,
    baseline,
    price(candidate, counted) {
      const tokens = below(counter, candidate, baseline, counted)
      return tokens !== null && seenSmaller(candidate) ? tokens : null
    },
  }
}

/** An estimate that counts as one of them agrees with it. */
function witnessesOf(id: TokenizerId): readonly TokenizerId[] {
  const { counting } = PROFILES[id]
  return WITNESSES.filter(witness => witness !== counting)
}

/** Tokens of `text` if fewer than `bound`, else `null`. */
function below(
  counter: TokenCounter,
  text: string,
  bound: number,
  counted?: number,
): number | null {
  if (bound === 0) return null
  const tokens = counted ?? counter.countUpTo(text, bound - 1)
  return tokens < bound ? tokens : null
}
