import { ObjectValue, type Value } from '../../../json/value.ts'
import { quoteOf } from '../json-escapes.ts'
import {
  BLANK,
  BLANK_COLON,
  breaksLines,
  COLON_BLANK,
  type Gap,
  gapsOf,
  type Layout,
  LINE_BREAK,
  type Style,
} from './layout.ts'
import { isContainer, scalarText } from './measure.ts'
import { StyleChoice } from './style-choice.ts'

interface Frame {
  readonly keys: readonly string[] | null
  readonly values: readonly Value[]
  readonly style: StyleParts
  /** The level of its closing bracket; its members may have one more. */
  readonly level: number
  at: number
}

/**
 * Passes the JSON text part by part to `put`, until that returns `false`. Returns whether it never
 * did, and the layout was one for this value. Linear, and without recursion.
 */
export function writeLayout(root: Value, layout: Layout, put: (part: string) => boolean): boolean {
  const quote = quoteOf(layout.escapes)
  if (!isContainer(root)) return layout.exceptions.size === 0 && put(scalarText(root, quote))
  const choice = new StyleChoice(root, layout, quote)
  const gaps = new GapTexts(layout)
  const frames: Frame[] = []
  let frame: Frame | undefined
  /** Characters that were put, and those before the current line. */
  let length = 0
  let lineStart = 0
  let container: typeof root | undefined = root
  let part = ''
  for (;;) {
    if (container !== undefined) {
      const keys: readonly string[] | null =
        container instanceof ObjectValue ? container.keys : null
      const values: readonly Value[] =
        container instanceof ObjectValue ? container.values : container
      const level = frame === undefined ? 0 : frame.level + frame.style.levels
      if (values.length === 0) {
        const { empty } = keys === null ? layout.arrays : layout.objects
        part += (keys === null ? '[' : '{') + gaps.next(empty, level) + (keys === null ? ']' : '}')
      } else {
        const style = choice.next(keys !== null, columnAfter(part, length - lineStart))
        if (style === undefined) return false
        frame = { keys, values, style: partsOf(style), level, at: 0 }
        frames.push(frame)
        part += keys === null ? '[' : '{'
      }
      container = undefined
    }
    if (!put(part)) return false
    if (choice.usesColumns) lineStart = length + part.length - columnAfter(part, length - lineStart)
    length += part.length
    if (frame === undefined) return choice.isDone
    const { keys, values, style, level, at } = frame
    if (at === values.length) {
      part = gaps.next(style.close, level) + (keys === null ? ']' : '}')
      frames.pop()
      frame = frames.at(-1)
    } else {
      part = at === 0 ? '' : ','
      part += gaps.next(at === 0 ? style.open : style.comma, level + style.levels)
      if (keys !== null) part += quote(keys[at]!) + style.colon
      frame.at++
      const member = values[at]!
      if (isContainer(member)) container = member
      else part += scalarText(member, quote)
    }
  }
}

/** The column after a part that begins in a column. */
function columnAfter(part: string, column: number): number {
  const feed = part.lastIndexOf('\n')
  return feed === -1 ? column + part.length : part.length - feed - 1
}

/** What a style means for who writes a container. */
interface StyleParts {
  readonly open: Gap
  readonly comma: Gap
  readonly close: Gap
  /** With its blanks. */
  readonly colon: string
  /** Levels that it adds. */
  readonly levels: number
}

const STYLES = 256
const PARTS: readonly StyleParts[] = Array.from({ length: STYLES }, (_, style) => {
  const { colon, ...gaps } = gapsOf(style)
  const before = (colon & BLANK_COLON) === 0 ? '' : ' '
  const after = (colon & COLON_BLANK) === 0 ? '' : ' '
  return { ...gaps, colon: `${before}:${after}`, levels: breaksLines(style) ? 1 : 0 }
})

function partsOf(style: Style): StyleParts {
  return PARTS[style]!
}

/** The texts of gaps, in the order of the JSON text. */
class GapTexts {
  readonly #layout: Layout
  /** Line breaks by the level of what follows. */
  readonly #breaks: string[] = []
  #count = 0

  constructor(layout: Layout) {
    this.#layout = layout
  }

  next(gap: Gap, level: number): string {
    if (gap < LINE_BREAK) return gap === BLANK ? ' ' : ''
    const { unit, lineEnd, emptyLines } = this.#layout
    const lines = emptyLines.size === 0 ? 0 : (emptyLines.get(this.#count++) ?? 0)
    this.#breaks[level] ??= lineEnd + unit.repeat(level)
    const text = this.#breaks[level]
    if (lines === 0 && gap === LINE_BREAK) return text
    return ((gap & BLANK) === 0 ? '' : ' ') + lineEnd.repeat(lines) + text
  }
}
