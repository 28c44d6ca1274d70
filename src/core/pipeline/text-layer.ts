import { formatId, type Notation } from '../formats/notation.ts'
import { type TextNotation, textFormat } from '../formats/text/text-notation.ts'
import { byPrice, type Candidate, isAllowed, type Layer, type LayerInput } from './layer.ts'

/**
 * L2 for what is not JSON: the whole text in each text notation that accepts it, by exact token counts.
 * @param values notations that may write JSON inside a text
 */
export function createTextLayer(
  notations: readonly TextNotation[],
  values: readonly Notation[],
): Layer {
  return {
    id: 'L2',
    propose(input) {
      const candidates: Candidate[] = []
      const bigger: string[] = []
      const declined: string[] = []
      if (isJson(input)) return { candidates, bigger, declined }
      const { content, prices, shape } = input
      const tools = {
        count: (text: string) => prices.counter.count(text),
        notations: values.filter(notation => isAllowed(notation, input)),
      }
      for (const notation of notations) {
        if (!isAllowed(notation, input) || !notation.accepts(content, shape)) continue
        const base = formatId(notation)
        const written = notation.encode(content, tools).filter(text => text.content !== content)
        if (written.length === 0) declined.push(base)
        for (const { content: text, style } of written) {
          const format = textFormat(base, style)
          const tokens = prices.price(text)
          if (tokens === null) bigger.push(format)
          else candidates.push(candidate(notation, text, style, tokens, content))
        }
      }
      return { candidates: byPrice(candidates), bigger, declined }
    },
  }
}

/** Whether the value notations say the content: an object or array. A JSON scalar is text. */
function isJson({ value }: LayerInput): boolean {
  return typeof value === 'object' && value !== null
}

/**
 * Room that a decoder gets in the gate: a text that decodes to more than the original is wrong anyway, so it may
 * stop there. Notations that restore layout only nearly get a little more.
 */
const ROOM = 2

function candidate(
  notation: TextNotation,
  content: string,
  style: string,
  tokens: number,
  original: string,
): Candidate {
  return {
    content,
    format: textFormat(formatId(notation), style),
    tokens,
    restores() {
      const decoded = notation.decode(content, style, original.length * ROOM)
      return notation.same?.(decoded, original) ?? decoded === original
    },
  }
}
