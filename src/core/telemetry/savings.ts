import { isOffer, type TelemetryEvent } from './event.ts'

/** Sums over events that one tokenizer counted, in tokens; estimates if events were sampled. */
export interface SavingsSums {
  results: number
  baseline: number
  final: number
  /** The results among them that references represent (L0). */
  l0Results: number
  l0Baseline: number
  l0Final: number
  /** Saved on the others, by formats and by leaving parts out. */
  encoderSaved: number
  omissionSaved: number
}

/** Shares of 1; `null` if there is nothing to take a share of. */
export interface Savings {
  /** The share of all tokens that references saved. */
  readonly dedup: number | null
  /** The share that formats saved of the tokens of results that got no reference. */
  readonly encoder: number | null
  /** The share of the same tokens that was left out. */
  readonly omission: number | null
  /** The share of all tokens that all of it saved. */
  readonly combined: number | null
  /** The share of all tokens that stands in results that references represent. */
  readonly hitShare: number | null
}

export function noSavings(): SavingsSums {
  return {
    results: 0,
    baseline: 0,
    final: 0,
    l0Results: 0,
    l0Baseline: 0,
    l0Final: 0,
    encoderSaved: 0,
    omissionSaved: 0,
  }
}

/**
 * Adds an event to the sums. @param weight results that it represents: `1 / sample_rate_applied`,
 * or 1 to count lines
 */
export function addSavings(sums: SavingsSums, event: TelemetryEvent, weight: number): void {
  const { tokens_baseline, tokens_final } = event
  sums.results += weight
  sums.baseline += weight * tokens_baseline
  sums.final += weight * tokens_final
  if (event.layer_used === 'L0') {
    sums.l0Results += weight
    sums.l0Baseline += weight * tokens_baseline
    sums.l0Final += weight * tokens_final
  } else {
    sums.encoderSaved += weight * event.encoder_tokens_saved
    sums.omissionSaved += weight * event.elided_tokens_saved
  }
}

/**
 * The reporting rule of SOURCES.md#formats, "Savings Accounting". All savings on the branch of L0
 * are the reference's. Encoder and omission are shares of the other branch only. With h the share
 * of tokens on the L0 branch, `combined = dedup + (1 − h) · (encoder + omission)`: the seed's
 * multiplicative composition, except that a reference costs what it costs; the seed counts it as
 * free.
 */
export function savingsOf(sums: SavingsSums): Savings {
  const missed = sums.baseline - sums.l0Baseline
  return {
    dedup: ratio(sums.l0Baseline - sums.l0Final, sums.baseline),
    encoder: ratio(sums.encoderSaved, missed),
    omission: ratio(sums.omissionSaved, missed),
    combined: ratio(sums.baseline - sums.final, sums.baseline),
    hitShare: ratio(sums.l0Baseline, sums.baseline),
  }
}

function ratio(part: number, whole: number): number | null {
  return whole > 0 ? part / whole : null
}

export interface TokenizerSavings {
  readonly tokenizer: string
  /** The sums of all endpoints together. */
  readonly total: SavingsSums
  /** The one with most baseline tokens first. */
  readonly endpoints: readonly { readonly endpoint: string; readonly sums: SavingsSums }[]
}

/** Endpoints that are distinguished; later ones are summed up as one. */
const MAX_ENDPOINTS = 10_000
const OTHERS = 'others'

/** Sums by tokenizer and endpoint class, scaled by the sampling rates. */
export function createEndpointSavings() {
  const byTokenizer = new Map<string, { total: SavingsSums; endpoints: Map<string, SavingsSums> }>()

  function groupOf(tokenizer: string) {
    const known = byTokenizer.get(tokenizer)
    if (known !== undefined) return known
    const group = { total: noSavings(), endpoints: new Map<string, SavingsSums>() }
    byTokenizer.set(tokenizer, group)
    return group
  }

  return {
    add(event: TelemetryEvent): void {
      if (isOffer(event)) return
      const { total, endpoints } = groupOf(event.tokenizer)
      const isKnown = endpoints.has(event.endpoint_class) || endpoints.size < MAX_ENDPOINTS
      const name = isKnown ? event.endpoint_class : OTHERS
      const sums = endpoints.get(name) ?? noSavings()
      endpoints.set(name, sums)
      const weight = 1 / event.sample_rate_applied
      addSavings(sums, event, weight)
      addSavings(total, event, weight)
    },
    /**
     * One entry a tokenizer, by name: shares of tokens that different tokenizers counted would mean
     * nothing.
     */
    groups(): readonly TokenizerSavings[] {
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
