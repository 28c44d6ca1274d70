import { bodyRules, type RouteName } from '../../dialects/lookup.ts'
import type { TokenUsage } from './token-usage.ts'

/** Figures of an answer by name, as they are spelled. */
export type Figures = Record<string, string>

/** Larger figures cannot be right. */
const MAX_TOKENS = 1e9

/** The usage by the figures. Returns `null` if the tokens of the prompt are not among them. */
export function usageOf(route: RouteName, figures: Figures): TokenUsage | null {
  const input = tokens(figures['input'])
  if (input === undefined) return null
  const output = (tokens(figures['output']) ?? 0) + (tokens(figures['thoughts']) ?? 0)
  const read = tokens(figures['cache_read']) ?? 0
  const long = tokens(figures['cache_write_long']) ?? 0
  const written =
    tokens(figures['cache_write']) ?? (tokens(figures['cache_write_short']) ?? 0) + long
  if (bodyRules(route).usage.inputIsUncached) {
    return { uncached: input, cache_read: read, ...writes(written, long), output }
  }
  // The input includes what was read from the cache, and written to it.
  const cacheRead = Math.min(read, input)
  const cacheWrite = Math.min(written, input - cacheRead)
  const uncached = input - cacheRead - cacheWrite + (tokens(figures['tool_input']) ?? 0)
  return { uncached, cache_read: cacheRead, ...writes(cacheWrite, long), output }
}

function writes(all: number, long: number): Pick<TokenUsage, 'cache_write' | 'cache_write_long'> {
  const cache_write_long = Math.min(long, all)
  return { cache_write: all - cache_write_long, cache_write_long }
}

function tokens(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,10}$/.test(text)) return undefined
  const value = Number(text)
  return value <= MAX_TOKENS ? value : undefined
}
