/** Estimates by length: UTF-8 bytes over bytes a token, rounded up. */
import { requireString, type TokenCounter } from './counter.ts'

/** A counter that reads nothing but the length. Empty text is 0 tokens. */
export function createByteCounter(id: string, bytesPerToken: number): TokenCounter {
  const count = (text: string): number => {
    requireString(text)
    return Math.ceil(Buffer.byteLength(text) / bytesPerToken)
  }
  return {
    id,
    exact: false,
    count,
    countUpTo(text, limit) {
      // A UTF-16 unit is at least one byte, so this bound needs no reading.
      const atLeast = Math.ceil(text.length / bytesPerToken)
      return atLeast > limit ? atLeast : count(text)
    },
  }
}
