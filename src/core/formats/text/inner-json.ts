import { classify } from '../../classify/classify.ts'
import type { Value } from '../../json/value.ts'
import { formatId, type Notation, weighed } from '../json/json-format.ts'
import { findNotation } from '../json/registry.ts'
import { extentOf } from '../work.ts'
import type { TextTools } from './text-format.ts'

/** JSON inside a text, written in a value format. */
export interface InnerJson {
  readonly notation: Notation
  readonly content: string
  readonly tokens: number
}

/**
 * The value in the cheapest format whose text `fits`; the preferred one of two that cost the same.
 * What the format cannot give back is found out by the gate, which compares the whole text.
 * @param chars of the JSON that the value was read from
 */
export function cheapestJson(
  value: Value,
  { notations, counter, work }: TextTools,
  chars: number,
  fits: (content: string) => boolean,
): InnerJson | null {
  const shape = classify('', value)
  const extent = extentOf(value, chars)
  let best: InnerJson | null = null
  let lowest = Number.POSITIVE_INFINITY
  for (const notation of notations) {
    if (!notation.accepts(value, shape)) continue
    if (work?.take(notation.steps?.(extent) ?? 0) === false) continue
    const written = weighed(notation, value, counter)
    if (written === null || !fits(written.content)) continue
    const { content, surcharge } = written
    const tokens = counter.count(content)
    const price = tokens + surcharge
    if (price >= lowest) continue
    lowest = price
    best = { notation, content, tokens }
  }
  return best
}

/** The words of a style: the spacing of the JSON, then the ids of the formats inside. */
export function innerStyle(spacing: string, notations: Iterable<Notation>): string {
  return [spacing, ...new Set([...notations].map(formatId))].join(',')
}

/** The spacing and the formats by name, `undefined` if one is unknown. */
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
