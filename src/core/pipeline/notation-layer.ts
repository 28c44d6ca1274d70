import { formatId, type Notation } from '../formats/notation.ts'
import { equalValues } from '../value/equal-values.ts'
import type { Value } from '../value/value.ts'
import type { Candidate, Layer, LayerInput } from './layer.ts'

/** L2: the whole value in each notation that accepts it, by exact token counts. */
export function createNotationLayer(notations: readonly Notation[]): Layer {
  return {
    id: 'L2',
    propose(input) {
      const { value } = input
      const candidates: Candidate[] = []
      const bigger: string[] = []
      if (value === undefined) return { candidates, bigger }
      for (const notation of notations) {
        if (!isAllowed(notation, input) || !notation.accepts(value, input.shape)) continue
        const content = notation.encode(value)
        // An unchanged text saves nothing and need not be counted.
        if (content === null || content === input.content) continue
        const tokens = input.prices.price(content)
        if (tokens === null) bigger.push(formatId(notation))
        else candidates.push(candidate(notation, content, tokens, value))
      }
      // Stable, so equal prices keep the registry's order in every worker and version of Node.
      candidates.sort((a, b) => a.tokens - b.tokens)
      return { candidates, bigger }
    },
  }
}

function isAllowed(notation: Notation, input: LayerInput): boolean {
  const { formats } = input.request
  return (
    formats === undefined || formats.includes(notation.id) || formats.includes(formatId(notation))
  )
}

function candidate(notation: Notation, content: string, tokens: number, value: Value): Candidate {
  return {
    content,
    format: formatId(notation),
    tokens,
    restores: () => equalValues(notation.decode(content), value),
  }
}
