import { NumberLiteral, ObjectValue, type Value } from '../../../json/value.ts'
import type { Quote } from '../json-escapes.ts'
import { breaksLines, gapChars, type KindLayout, type Layout, type Style } from './layout.ts'

export type Container = ObjectValue | readonly Value[]

export function isContainer(value: Value): value is Container {
  return value instanceof ObjectValue || Array.isArray(value)
}

export function scalarText(value: Exclude<Value, Container>, quote: Quote): string {
  if (typeof value === 'string') return quote(value)
  return value instanceof NumberLiteral ? value.text : String(value)
}

const ITEM = '['

/** A container that is not empty. */
export interface Measured {
  readonly isObject: boolean
  /** The number of the container that it is in; -1 for none. */
  readonly parent: number
  /** Its key, or what its list has and a bracket. */
  readonly label: string
  readonly members: number
  /** Whether a comma follows. */
  readonly isFollowed: boolean
  /** Characters on one line, without gaps and without containers in it that are not empty. */
  chars: number
}

/** The containers of a value that are not empty, in the order of the text. Without recursion. */
export function measure(root: Value, { arrays, objects }: Layout, quote: Quote): Measured[] {
  const all: Measured[] = []
  const waiting: { container: Container; number: number; at: number }[] = []
  const enter = (container: Container, parent: number, label: string, isFollowed: boolean) => {
    const isObject = container instanceof ObjectValue
    const members = isObject ? container.values.length : container.length
    if (members === 0) {
      if (parent >= 0) all[parent]!.chars += 2 + (isObject ? objects : arrays).empty
      return
    }
    waiting.push({ container, number: all.length, at: 0 })
    // Both brackets, commas and colons.
    const signs = 2 + (members - 1) + (isObject ? members : 0)
    all.push({ isObject, parent, label, members, isFollowed, chars: signs })
  }
  if (isContainer(root)) enter(root, -1, '', false)
  for (let frame = waiting.at(-1); frame !== undefined; frame = waiting.at(-1)) {
    const { container, number, at } = frame
    const keys = container instanceof ObjectValue ? container.keys : null
    const values: readonly Value[] = container instanceof ObjectValue ? container.values : container
    if (at === values.length) {
      waiting.pop()
      continue
    }
    frame.at++
    const own = all[number]!
    if (keys !== null) own.chars += quote(keys[at]!).length
    const member = values[at]!
    if (isContainer(member)) {
      const label = keys?.[at] ?? itemLabel(own.label)
      enter(member, number, label, at + 1 < values.length)
    } else own.chars += scalarText(member, quote).length
  }
  return all
}

/** Items of lists in lists share a label, or labels would be as long as lists are deep. */
function itemLabel(list: string): string {
  return list.endsWith(ITEM) ? ITEM + ITEM : list + ITEM
}

/**
 * The characters of each container on one line; infinite if it must break, because something in it
 * does. From the last one to the first, so that the inner ones come before those they are in.
 * @param exceptionAt the style of a container that has so many characters, if it is an exception
 */
export function flatWidths(
  all: readonly Measured[],
  { arrays, objects }: Pick<Layout, 'arrays' | 'objects'>,
  exceptionAt: (number: number, width: number) => Style | undefined,
): Float64Array {
  const widths = new Float64Array(all.length)
  const inside = new Float64Array(all.length)
  for (let number = all.length - 1; number >= 0; number--) {
    const { isObject, parent, members, chars } = all[number]!
    const usual = usualStyle(isObject ? objects : arrays)
    const bare = chars + inside[number]!
    const width = bare + flatGaps(usual, members)
    widths[number] = width
    const exception = exceptionAt(number, width)
    if (parent < 0) continue
    inside[parent]! += exception === undefined ? width : bare + flatGaps(exception, members)
  }
  return widths
}

/** The style of containers that may be on one line; of all, if none may. */
function usualStyle({ styles, width }: KindLayout): Style {
  return (width > 0 ? styles[1] : undefined) ?? styles[0] ?? 0
}

function flatGaps(style: Style, members: number): number {
  return breaksLines(style) ? Number.POSITIVE_INFINITY : gapChars(style, members)
}
