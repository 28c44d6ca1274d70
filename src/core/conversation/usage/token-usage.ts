/** Token counts that a provider reports for one request; no token is in two of them. */
export interface TokenUsage {
  /** Input tokens that were neither read from the prompt cache nor written to it. */
  readonly uncached: number
  readonly cache_read: number
  /** Written for the provider's short time: five minutes (Anthropic), half an hour (OpenAI). */
  readonly cache_write: number
  /** Written for its long one: an hour, twelve hours. */
  readonly cache_write_long: number
  readonly output: number
}

export const USAGE_KINDS = [
  'uncached',
  'cache_read',
  'cache_write',
  'cache_write_long',
  'output',
] as const satisfies readonly (keyof TokenUsage)[]
export type UsageKind = (typeof USAGE_KINDS)[number]

export const NO_USAGE: TokenUsage = {
  uncached: 0,
  cache_read: 0,
  cache_write: 0,
  cache_write_long: 0,
  output: 0,
}

/** Tokens of the prompt, wherever they came from. */
export function promptTokens(usage: TokenUsage): number {
  return usage.uncached + usage.cache_read + usage.cache_write + usage.cache_write_long
}
