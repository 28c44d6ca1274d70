/**
 * Prices in uncached input tokens, as `docs/guide/savings.md` has them: a token that is written to
 * the cache and read again, and a token of output.
 */
const CACHE_WRITE = 1.25
const CACHE_READ = 0.1
const OUTPUT = 5

/** Turns that a text stays in a context, about. */
const TURNS_TO_COME = 20
/** Tokens that a model writes to call again, and those of the call and its frame in the prompt. */
const OUTPUT_TOKENS = 100
const CALL_TOKENS = 150

/** What a token in the prompt costs until the end of its conversation. */
const OF_PROMPT = CACHE_WRITE + CACHE_READ * TURNS_TO_COME

/**
 * What one more turn costs, in tokens that stay in the prompt: it reads the context once more, and
 * its call is written and stays.
 */
export function turnCost(contextTokens: number): number {
  return (CACHE_READ * contextTokens + OUTPUT * OUTPUT_TOKENS) / OF_PROMPT + CALL_TOKENS
}
