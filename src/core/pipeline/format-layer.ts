import { formatId, type Notation, type Weighed, weighed } from '../formats/json/json-format.ts'
import { createWorkBudget, extentOf } from '../formats/work.ts'
import { equalValues } from '../json/equal-values.ts'
import type { Value } from '../json/value.ts'
import { byPrice, type Candidate, isAllowed, type Layer } from './layer.ts'

/** L2: the whole value in each format that accepts it, by exact token counts. */
export function createNotationLayer(notations: readonly Notation[]): Layer {
  return {
    id: 'L2',
    propose(input) {
      const { value } = input
      const candidates: Candidate[] = []
      const bigger: string[] = []
      const declined: string[] = []
      if (value === undefined) return { candidates, bigger, declined }
      const work = createWorkBudget(input.content.length)
      const extent = extentOf(value, input.content.length)
      for (const notation of notations) {
        if (!isAllowed(notation, input) || !notation.accepts(value, input.shape)) continue
        const isAffordable = work.take(notation.steps?.(extent) ?? 0)
        const written = isAffordable ? weighed(notation, value, input.prices.counter) : null
        if (written === null) declined.push(formatId(notation))
        // An unchanged text saves nothing and need not be counted.
        if (written === null || written.content === input.content) continue
        const tokens = input.prices.price(written.content)
        if (tokens === null) bigger.push(formatId(notation))
        else candidates.push(candidate(notation, written, tokens, value))
      }
      return { candidates: byPrice(candidates), bigger, declined }
    },
  }
}

function candidate(
  notation: Notation,
  { content, surcharge }: Weighed,
  tokens: number,
  value: Value,
): Candidate {
  return {
    content,
    format: formatId(notation),
    tokens,
    surcharge,
    restores: () => equalValues(notation.decode(content), value),
  }
}
