import { formatId, type JsonFormat, type Weighed, weighed } from '../formats/json/json-format.ts'
import {
  type TextFormat,
  type TextTools,
  textFormat,
  type WrittenText,
} from '../formats/text/text-format.ts'
import { createWorkBudget, extentOf } from '../formats/work.ts'
import { parseJson } from '../json/parse-json.ts'
import { equalValues, type Value } from '../json/value.ts'
import { byPrice, type Candidate, isAllowed, type Layer, type LayerInput } from './layer.ts'

/** L2: the whole value in each format that accepts it, by exact token counts. */
export function createJsonLayer(formats: readonly JsonFormat[]): Layer {
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
      for (const format of formats) {
        if (!isAllowed(format, input) || !format.accepts(value, input.shape)) continue
        // An unchanged text saves nothing, so it is not written, or not counted.
        if (format.compact === true && input.isCompact) continue
        const isAffordable = work.take(format.steps?.(extent) ?? 0)
        const written = isAffordable
          ? weighed(format, value, input.prices.counter, input.memo)
          : null
        if (written === null) declined.push(formatId(format))
        if (written === null || written.content === input.content) continue
        const tokens = input.prices.price(written.content, written.tokens)
        if (tokens === null) bigger.push(formatId(format))
        else candidates.push(valueCandidate(format, written, tokens, value))
      }
      return { candidates: byPrice(candidates), bigger, declined }
    },
  }
}

function valueCandidate(
  format: JsonFormat,
  { content, surcharge }: Weighed,
  tokens: number,
  value: Value,
): Candidate {
  return {
    content,
    format: formatId(format),
    tokens,
    surcharge,
    restores: () => equalValues(format.decode(content), value),
  }
}

/**
 * L2: the whole text in each text format that accepts it, by exact token counts.
 * @param values formats that may write JSON inside a text
 */
export function createTextLayer(
  formats: readonly TextFormat[],
  values: readonly JsonFormat[],
): Layer {
  return {
    id: 'L2',
    propose(input) {
      const candidates: Candidate[] = []
      const bigger: string[] = []
      const declined: string[] = []
      const { content, prices, shape } = input
      const isJson = typeof input.value === 'object' && input.value !== null
      const work = createWorkBudget(content.length)
      const tools = {
        work,
        counter: prices.counter,
        memo: input.memo,
        ...parsedOf(input),
        formats: values.filter(format => isAllowed(format, input)),
      }
      for (const format of formats) {
        // A JSON scalar is text.
        if ((format.json === true) !== isJson || !isAllowed(format, input)) continue
        if (!format.accepts(content, shape)) continue
        const base = formatId(format)
        const isAffordable = work.take(format.steps?.(content) ?? 0)
        const written = isAffordable
          ? format.encode(content, tools).filter(text => text.content !== content)
          : []
        if (written.length === 0) declined.push(base)
        for (const text of written) {
          const tokens = prices.price(text.content, text.tokens)
          if (tokens === null) bigger.push(textFormat(base, text.style))
          else candidates.push(textCandidate(format, text, tokens, input))
        }
      }
      return { candidates: byPrice(candidates), bigger, declined }
    },
  }
}

/** The value for formats that take JSON; the levels of nesting are known of a container only. */
function parsedOf({ value, shape: { depth } }: LayerInput): Pick<TextTools, 'parsed'> {
  return value === undefined || depth === undefined ? {} : { parsed: { value, depth } }
}

/**
 * Most that a decoder writes in the gate, in lengths of the input. A text that decodes to more is
 * wrong, so the decoder may stop there. JSON may grow a little, by escapes.
 */
const ROOM = 2

function textCandidate(
  format: TextFormat,
  { content, style, outdoesValues }: WrittenText,
  tokens: number,
  { content: original, value, prices }: LayerInput,
): Candidate {
  const saved = prices.baseline - tokens
  const room = original.length * ROOM
  return {
    content,
    format: textFormat(formatId(format), style),
    tokens,
    ...(outdoesValues !== undefined && saved >= outdoesValues ? { outdoesValues: true } : {}),
    restores() {
      if (format.decodeValue !== undefined) {
        return value !== undefined && equalValues(format.decodeValue(content, style, room), value)
      }
      if (format.restores !== undefined) return format.restores(content, style, room, original)
      const decoded = format.decode(content, style, room)
      if (format.json !== true) return decoded === original
      const parsed = parseJson(decoded)
      return parsed.ok && value !== undefined && equalValues(parsed.value, value)
    },
  }
}
