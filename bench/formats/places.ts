import { splitFormat } from '../../src/core/formats/text/text-format.ts'
import { FORMAT_NAMES } from '../../src/core/pipeline/layers.ts'
import { encode } from '../../src/index.ts'

/** What one notation is worth: the corpus with it against the corpus without it. */
export interface Place {
  readonly format: string
  /** Results that it was sent for, and those in which it wrote JSON inside a text. */
  won: number
  inside: number
  /** Tokens of both as they came, and as they were sent. */
  tokensIn: number
  tokensOut: number
  /** Tokens that the answers would take more without it. */
  saved: number
  /** Results that would take at least a twentieth more without it. */
  clear: number
}

/** Least share of a result's tokens that makes a notation clearly the cheapest. */
const CLEAR_SHARE = 0.05
/**
 * Share of all savings below which a notation that is never clearly the cheapest is not worth its
 * grammar.
 */
const LEAST_SHARE = 0.005

/**
 * Every notation's worth over some results: each that was sent for a result is forbidden, and the
 * result encoded again.
 */
export function measurePlaces(texts: readonly string[]): readonly Place[] {
  const places = FORMAT_NAMES.filter(name => name !== 'passthrough').map(zero)
  for (const content of texts) {
    const { format, tokens } = encode({ content })
    if (format === 'passthrough') continue
    const { base, style } = splitFormat(format)
    const inner = new Set([...style.matchAll(/(\w+)@/g)].map(([, id]) => id))
    for (const place of places) {
      const isSent = base.startsWith(`${place.format}@`)
      if (!isSent && !inner.has(place.format)) continue
      const formats = FORMAT_NAMES.filter(name => name !== place.format)
      const without = encode({ content, formats }).tokens.final
      if (isSent) place.won++
      else place.inside++
      place.tokensIn += tokens.baseline
      place.tokensOut += tokens.final
      place.saved += without - tokens.final
      if (without - tokens.final >= CLEAR_SHARE * without) place.clear++
    }
  }
  return places
}

/** Whether a notation should be dropped, by the rule that every one must earn its place. */
export function isToBeDropped({ saved, clear }: Place, allSaved: number): boolean {
  return saved < LEAST_SHARE * allSaved && clear === 0
}

function zero(format: string): Place {
  return { format, won: 0, inside: 0, tokensIn: 0, tokensOut: 0, saved: 0, clear: 0 }
}
