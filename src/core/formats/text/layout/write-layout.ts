import { ObjectValue, type Value } from '../../../json/value.ts'
import { quoteOf } from '../json-escapes.ts'
import { GapTexts, partsOf, type StyleParts } from './gap-texts.ts'
import type { Layout } from './layout.ts'
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
