import { classify } from '../../shape/classify.ts'
import type { Value } from '../../value/value.ts'
import { formatId, type Notation } from '../notation.ts'
import { findNotation } from '../registry.ts'
import type { TextTools } from './text-notation.ts'

/** JSON inside a text, written in a value notation. */
export interface InnerJson {
  readonly notation: Notation
  readonly content: string
  readonly tokens: number
}

/**
 * The value in the cheapest notation whose text `fits`; the preferred one of two that cost the same. What the notation
 * cannot give back is found out by the gate, which compares the whole text.
 */
export function cheapestJson(
  value: Value,
  { notations, counter }: TextTools,
  fits: (content: string) => boolean,
): InnerJson | null {
  const shape = classify('', value)
  let best: InnerJson | null = null
  for (const notation of notations) {
    const content = notation.accepts(value, shape) ? notation.encode(value, counter) : null
    if (content === null || !fits(content)) continue
    const tokens = counter.count(content)
    if (best === null || tokens < best.tokens) best = { notation, content, tokens }
  }
  return best
}

/** The words of a style: the spacing of the JSON, then the formats of the notations inside. */
export function innerStyle(spacing: string, notations: Iterable<Notation>): string {
  return [spacing, ...new Set([...notations].map(formatId))].join(',')
}

/** The spacing and the notations by name, `undefined` where one is unknown. */
export function readInnerStyle(
  style: string,
): { spacing: string; notations: ReadonlyMap<string, Notation> } | undefined {
  const [spacing = '', ...formats] = style.split(',')
  const notations = new Map<string, Notation>()
  for (const format of formats) {
    const notation = findNotation(format)
    if (notation === undefined) return undefined
    notations.set(notation.id, notation)
  }
  return { spacing, notations }
}
