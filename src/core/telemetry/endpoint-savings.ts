import type { TelemetryEvent } from './event.ts'
import { addSavings, noSavings, type SavingsSums } from './savings.ts'

/** Sums by tokenizer and endpoint class, scaled by the sampling rates. */
export interface EndpointSavings {
  add(event: TelemetryEvent): void
  /**
   * One entry a tokenizer, by name: shares of tokens that different tokenizers counted would mean
   * nothing.
   */
  groups(): readonly TokenizerSavings[]
}

export interface TokenizerSavings {
  readonly tokenizer: string
  /** Of all endpoints together. */
  readonly total: SavingsSums
  /** The one with most baseline tokens first. */
  readonly endpoints: readonly { readonly endpoint: string; readonly sums: SavingsSums }[]
}

/** Endpoints that are distinguished; what comes beyond is summed up as one. */
const MAX_ENDPOINTS = 10_000
const OTHERS = 'others'

export function createEndpointSavings(): EndpointSavings {
  const byTokenizer = new Map<string, { total: SavingsSums; endpoints: Map<string, SavingsSums> }>()

  function groupOf(tokenizer: string) {
    const known = byTokenizer.get(tokenizer)
    if (known !== undefined) return known
    const group = { total: noSavings(), endpoints: new Map<string, SavingsSums>() }
    byTokenizer.set(tokenizer, group)
    return group
  }

  return {
    add(event) {
      const { total, endpoints } = groupOf(event.tokenizer)
      const isKnown = endpoints.has(event.endpoint_class) || endpoints.size < MAX_ENDPOINTS
      const name = isKnown ? event.endpoint_class : OTHERS
      const sums = endpoints.get(name) ?? noSavings()
      endpoints.set(name, sums)
      const weight = 1 / event.sample_rate_applied
      addSavings(sums, event, weight)
      addSavings(total, event, weight)
    },
    groups() {
      const sorted = [...byTokenizer].sort(([a], [b]) => (a < b ? -1 : 1))
      return sorted.map(([tokenizer, { total, endpoints }]) => ({
        tokenizer,
        total,
        endpoints: [...endpoints]
          .map(([endpoint, sums]) => ({ endpoint, sums }))
          .sort((a, b) => b.sums.baseline - a.sums.baseline || (a.endpoint < b.endpoint ? -1 : 1)),
      }))
    },
  }
}
