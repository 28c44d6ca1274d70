import { attempt } from '../../base/attempt.ts'
import { shapeOfValue } from '../../classify/classify.ts'
import type { Value } from '../../json/value.ts'
import type { Uses } from '../../reading/constructs.ts'
import { readingPrice } from '../../reading/price.ts'
import { formatId, type JsonFormat, weighed } from '../json/json-format.ts'
import { findJsonFormat } from '../json/registry.ts'
import { extentOf } from '../work.ts'
import type { TextTools } from './text-format.ts'

/** JSON inside a text, written in a value format. */
export interface InnerJson {
  readonly format: JsonFormat
  readonly content: string
  readonly tokens: number
  readonly uses?: Uses
}

/**
 * The value in the cheapest format whose text `fits`; the preferred one of two that cost the same.
 * Whether the format gives the value back exactly is checked by the gate, which compares the whole
 * text.
 * @param chars of the JSON that the value was read from
 */
export function cheapestJson(
  value: Value,
  { formats, counter, work, reading }: TextTools,
  chars: number,
  fits: (content: string) => boolean,
): InnerJson | null {
  const shape = shapeOfValue(value)
  const extent = extentOf(value, chars)
  let best: InnerJson | null = null
  let lowest = Number.POSITIVE_INFINITY
  for (const format of formats) {
    const write = () => {
      if (!format.accepts(value, shape)) return null
      if (work?.take(format.steps?.(extent) ?? 0) === false) return null
      return weighed(format, value, counter)
    }
    const written = attempt(formatId(format), write, () => null)
    if (written === null || !fits(written.content)) continue
    const { content, surcharge, uses } = written
    const tokens = written.tokens ?? counter.count(content)
    const toRead = reading && uses ? readingPrice(reading, uses, tokens) : 0
    const price = tokens + surcharge + toRead
    if (price >= lowest) continue
    lowest = price
    best = { format, content, tokens, ...(uses === undefined ? {} : { uses }) }
  }
  return best
}

/** The words of a style: the spacing of the JSON, then the ids of the formats inside. */
export function innerStyle(spacing: string, formats: Iterable<JsonFormat>): string {
  return [spacing, ...new Set([...formats].map(formatId))].join(',')
}

/** The spacing and the formats by name, `undefined` if one is unknown. */
export function readInnerStyle(
  style: string,
): { spacing: string; formats: ReadonlyMap<string, JsonFormat> } | undefined {
  const [spacing = '', ...ids] = style.split(',')
  const formats = new Map<string, JsonFormat>()
  for (const id of ids) {
    const format = findJsonFormat(id)
    if (format === undefined) return undefined
    formats.set(format.id, format)
  }
  return { spacing, formats }
}
