import { ObjectValue, type Value } from '../../json/value.ts'
import { textFormat, type WrittenText } from './text-format.ts'

/**
 * JSON of which one string only is a text. The text needs no name, no count of lines and no
 * heading: it is all that comes after the frame. The style names its format.
 */

/** In the frame, in the place of the text. */
export const BELOW = 'below'
/** Between the frame and the text. */
const GAP = '\n\n'
/** In the style, after the frame and before the format of the text. */
const ALONE = 'below'

/**
 * Results of the Model Context Protocol with one text and nothing else, by the word of the style:
 * members after `content`. Hosts show a model the text of such a result, so that is all of it.
 */
const RESULTS: ReadonlyMap<string, readonly [string, Value][]> = new Map([
  ['result', []],
  ['result_ok', [['isError', false]]],
])

const RESULT = /^\s*\{\s*"content"\s*:\s*\[\s*\{\s*"type"\s*:\s*"text"\s*,\s*"text"\s*:\s*"/

/** Whether JSON begins like a result with a text. */
export function beginsLikeResult(json: string): boolean {
  return RESULT.test(json)
}

/** The word for such a result, and its text; `undefined` for any other value. */
export function readResult(value: Value): { word: string; text: string } | undefined {
  if (!(value instanceof ObjectValue) || value.keys[0] !== 'content') return undefined
  const [items] = value.values
  const item = Array.isArray(items) && items.length === 1 ? items[0] : undefined
  if (!(item instanceof ObjectValue) || item.keys.join() !== 'type,text') return undefined
  const [type, text] = item.values
  if (type !== 'text' || typeof text !== 'string' || text === '') return undefined
  for (const [word, rest] of RESULTS) {
    if (rest.length !== value.keys.length - 1) continue
    const fits = ([key, member]: readonly [string, Value], at: number) =>
      value.keys[at + 1] === key && value.values[at + 1] === member
    if (rest.every(fits)) return { word, text }
  }
  return undefined
}

function writeResult(text: string, rest: readonly [string, Value][]): Value {
  const item = new ObjectValue(['type', 'text'], ['text', text])
  const keys = ['content', ...rest.map(([key]) => key)]
  return new ObjectValue(keys, [[item], ...rest.map(([, member]) => member)])
}

/** A text in its format; without one it is unchanged. */
interface LoneText {
  readonly content: string
  readonly format: string | undefined
}

/**
 * The whole of a result that `readResult` knows.
 * @param text.tokens of its content, if they were counted
 */
export function writeResultText(
  word: string,
  { content, format, tokens }: LoneText & { readonly tokens?: number },
): WrittenText {
  return { content, style: withFormat(word, format), ...(tokens === undefined ? {} : { tokens }) }
}

/** A frame with `BELOW` in it, and the text below. */
export function writeBelow(
  frame: { readonly content: string; readonly style: string },
  { content, format }: LoneText,
): WrittenText {
  return {
    content: `${frame.content}${GAP}${content}`,
    style: withFormat(`${frame.style},${ALONE}`, format),
  }
}

/** In a style, commas separate words, and the format of the text comes last. */
function withFormat(style: string, format: string | undefined): string {
  return format === undefined ? style : `${style},${format.replace(';', ',')}`
}

const STYLE =
  /^(?:(result(?:_ok)?)|([1-9]\d{0,8}),([a-z_]+@\d{1,4}),below)(?:,([a-z_]+@\d{1,4})(?:,(.+))?)?$/

/** How a content with a lone text is laid out. */
export interface LoneStyle {
  /** The value around a text; `undefined` if the content has a frame. */
  readonly around?: (text: string) => Value
  /** Lines of the frame and its format; 0 if there is none. */
  readonly lines: number
  readonly frame: string
  /** As an answer has it; `undefined`: the text is unchanged. */
  readonly format: string | undefined
}

/** `undefined` for a style of a content with texts that have headings. */
export function readLoneStyle(style: string): LoneStyle | undefined {
  const [all, word, lines = '0', frame = '', base, inner = ''] = STYLE.exec(style) ?? []
  if (all === undefined) return undefined
  const rest = word === undefined ? undefined : RESULTS.get(word)
  return {
    ...(rest === undefined ? {} : { around: text => writeResult(text, rest) }),
    lines: Number(lines),
    frame,
    format: base === undefined ? undefined : textFormat(base, inner),
  }
}

/** Where the text begins after a frame that ends there; `undefined` if nothing separates them. */
export function startBelow(content: string, frameEnd: number): number | undefined {
  return content.startsWith(GAP, frameEnd) ? frameEnd + GAP.length : undefined
}
