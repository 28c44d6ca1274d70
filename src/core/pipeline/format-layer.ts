import { attempt } from '../base/attempt.ts'
import { withoutGaps } from '../formats/gaps.ts'
import { formatId, type JsonFormat, type Weighed, weighed } from '../formats/json/json-format.ts'
import {
  type TextFormat,
  type TextTools,
  textFormat,
  type WrittenText,
} from '../formats/text/text-format.ts'
import { createWorkBudget, extentOf } from '../formats/work.ts'
import { parseJson } from '../json/parse-json.ts'
import { equalValues, NumberLiteral, type Value } from '../json/value.ts'
import { type Reading, readingPrice, USUAL_READING } from '../reading/price.ts'
import { byPrice, type Candidate, isAllowed, type Layer, type LayerInput } from './layer.ts'

/** L2: the whole value in each format that accepts it, by exact token counts. */
export function createJsonLayer(
  formats: readonly JsonFormat[],
  reading: Reading = USUAL_READING,
): Layer {
  return {
    id: 'L2',
    propose(input) {
      const { value, marked } = input
      const candidates: Candidate[] = []
      const bigger: string[] = []
      const declined: string[] = []
      const { baseline } = input.prices
      if (value === undefined || isChangedScalar(input)) {
        return { candidates, baseline, bigger, declined }
      }
      const work = createWorkBudget(input.content.length)
      const extent = extentOf(value, input.content.length)
      const propose = (format: JsonFormat): void => {
        if (!format.accepts(value, input.shape)) return
        // An unchanged text saves nothing, so it is not written, or not counted.
        if (format.compact === true && (input.isCompact || marked !== undefined)) return
        const isAffordable = work.take(format.steps?.(extent) ?? 0)
        const written = isAffordable ? weighed(format, marked ?? value, input.prices.counter) : null
        if (written === null) declined.push(formatId(format))
        if (written === null || written.content === input.content) return
        const tokens = input.prices.price(written.content, written.tokens)
        if (tokens === null) bigger.push(formatId(format))
        else candidates.push(priced(valueCandidate(format, written, tokens, input), reading))
      }
      for (const format of formats) {
        if (!isAllowed(format, input)) continue
        const id = formatId(format)
        attempt(
          id,
          () => propose(format),
          () => declined.push(id),
        )
      }
      return { candidates: byPrice(candidates), baseline, bigger, declined }
    },
  }
}

/** The candidate with the price of what its reader must know. */
function priced(candidate: Candidate, reading: Reading): Candidate {
  const { uses, tokens } = candidate
  if (uses === undefined) return candidate
  return { ...candidate, readingPrice: readingPrice(reading, uses, tokens) }
}

/** Whether the content is a scalar that its value alone does not give back: a scalar is text. */
function isChangedScalar({ value, isCompact }: LayerInput): boolean {
  return !isContainer(value) && !isCompact
}

function isContainer(value: Value | undefined): boolean {
  return typeof value === 'object' && value !== null && !(value instanceof NumberLiteral)
}

function valueCandidate(
  format: JsonFormat,
  { content, surcharge, uses }: Weighed,
  tokens: number,
  { value, marked }: LayerInput,
): Candidate {
  return {
    content,
    format: formatId(format),
    tokens,
    surcharge,
    ...(uses === undefined ? {} : { uses }),
    restores: () =>
      value !== undefined &&
      equalValues(format.decode(marked ? withoutGaps(content).text : content), value),
  }
}

/**
 * L2: the whole text in each text format that accepts it, by exact token counts.
 * @param values formats that may write JSON inside a text
 */
export function createTextLayer(
  formats: readonly TextFormat[],
  values: readonly JsonFormat[],
  reading: Reading = USUAL_READING,
): Layer {
  return {
    id: 'L2',
    propose(input) {
      const candidates: Candidate[] = []
      const bigger: string[] = []
      const declined: string[] = []
      const { content, prices, shape, marked } = input
      const isJson = isContainer(input.value)
      const work = createWorkBudget(content.length)
      const tools = {
        work,
        counter: prices.counter,
        reading,
        ...(marked !== undefined && { marked }),
        ...parsedOf(input),
        formats: values.filter(format => isAllowed(format, input)),
      }
      const propose = (format: TextFormat, base: string): void => {
        if (!format.accepts(content, shape)) return
        const isAffordable = work.take(format.steps?.(content) ?? 0)
        const written = isAffordable
          ? format.encode(content, tools).filter(text => text.content !== content)
          : []
        if (written.length === 0) declined.push(base)
        for (const text of written) {
          const tokens = prices.price(text.content, text.tokens)
          if (tokens === null) bigger.push(textFormat(base, text.style))
          else candidates.push(priced(textCandidate(format, text, tokens, input), reading))
        }
      }
      for (const format of formats) {
        // A JSON scalar is text.
        if ((format.json === true) !== isJson || !isAllowed(format, input)) continue
        if (marked !== undefined && format.writesGaps !== true) continue
        const base = formatId(format)
        attempt(
          base,
          () => propose(format, base),
          () => declined.push(base),
        )
      }
      return { candidates: byPrice(candidates), baseline: prices.baseline, bigger, declined }
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
  { content, style, uses, outdoesValues }: WrittenText,
  tokens: number,
  { content: original, value, prices, marked }: LayerInput,
): Candidate {
  const saved = prices.baseline - tokens
  const room = original.length * ROOM
  return {
    content,
    format: textFormat(formatId(format), style),
    tokens,
    ...(uses === undefined ? {} : { uses }),
    ...(outdoesValues !== undefined && saved >= outdoesValues ? { outdoesValues: true } : {}),
    restores() {
      if (marked !== undefined) {
        return format.decode(withoutGaps(content).text, style, room) === original
      }
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
