import type { TokenCounter } from '../../src/core/tokens/counter.ts'

/**
 * A counter of one token for so many UTF-16 code units: the same in every version of the
 * vocabularies.
 */
export function lengthCounter(chars: number): TokenCounter {
  const count = (text: string) => Math.ceil(text.length / chars)
  return { id: `length_${chars}`, exact: true, count, countUpTo: count }
}
