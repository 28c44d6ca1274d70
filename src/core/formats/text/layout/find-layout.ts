import type { Value } from '../../../json/value.ts'
import { possibleEscapes, quoteOf } from '../json-escapes.ts'
import {
  BLANK,
  breaksLines,
  type Gap,
  gapsOf,
  type KindLayout,
  type Layout,
  LINE_BREAK,
  type Style,
  styleOf,
} from './layout.ts'
import { writeLayoutWord } from './layout-word.ts'
import { flatWidths, type Measured, measure } from './measure.ts'
import { type SeenContainer, type SeenGaps, scanGaps, UNKNOWN } from './scan-gaps.ts'
import { StylesByKey, styleByWidth } from './style-choice.ts'
import { writeLayout } from './write-layout.ts'

/** A layout with many exceptions is none. */
const MAX_WORD_CHARS = 320

/**
 * The word of the layout in which a program wrote this JSON; `undefined` if it is too irregular.
 * Linear.
 * @param source without white space at its ends; its value is `value`
 */
export function findLayout(source: string, value: Value): string | undefined {
  const seen = scanGaps(source)
  if (seen === undefined) return undefined
  const arrays = stylesOf(seen, false)
  const objects = stylesOf(seen, true)
  if (arrays === undefined || objects === undefined) return undefined
  for (const escapes of possibleEscapes(source)) {
    const layout = layoutOf(seen, { arrays, objects, escapes }, value)
    if (layout.exceptions.size + layout.emptyLines.size > MAX_WORD_CHARS) continue
    const word = writeLayoutWord(layout)
    if (word.length <= MAX_WORD_CHARS && isWritten(source, value, layout)) return word
  }
  return undefined
}

/** Whether the value in this layout is the source. */
export function isWritten(source: string, value: Value, layout: Layout): boolean {
  let at = 0
  const matches = (part: string): boolean => {
    if (!source.startsWith(part, at)) return false
    at += part.length
    return true
  }
  return writeLayout(value, layout, matches) && at === source.length
}

type Kinds = Pick<Layout, 'arrays' | 'objects'>

function layoutOf(
  seen: SeenGaps,
  kinds: Kinds & { readonly escapes: string },
  value: Value,
): Layout {
  const { containers, unit, lineEnd, emptyLines } = seen
  const plain: Layout = { unit, lineEnd, emptyLines, byKey: false, exceptions: new Map(), ...kinds }
  if (kinds.arrays.styles.length < 2 && kinds.objects.styles.length < 2) return plain
  const all = measure(value, plain, quoteOf(kinds.escapes))
  const byWidth = { ...plain, ...bestWidths(all, containers, kinds) }
  const exceptions = exceptionsByWidth(all, containers, byWidth)
  if (exceptions.size === 0) return byWidth
  const others = exceptionsByKey(all, containers, kinds)
  return others.size < exceptions.size
    ? { ...plain, byKey: true, exceptions: others }
    : { ...byWidth, exceptions }
}

/** The containers that have another style than by the widths of the layout, by their numbers. */
function exceptionsByWidth(
  all: readonly Measured[],
  containers: readonly SeenContainer[],
  kinds: Kinds,
): ReadonlyMap<number, number> {
  const exceptions: [number, number][] = []
  flatWidths(all, kinds, (number, width) => {
    const seen = containers[number]!
    const kind = seen.isObject ? kinds.objects : kinds.arrays
    const end = seen.column + width + Number(all[number]!.isFollowed)
    if (hasStyle(seen, kind.styles[styleByWidth(kind, end)]!)) return undefined
    const style = kind.styles.findIndex(style => hasStyle(seen, style))
    exceptions.push([number, style])
    return kind.styles[style]
  })
  return new Map(exceptions.reverse())
}

function exceptionsByKey(
  all: readonly Measured[],
  containers: readonly SeenContainer[],
  kinds: Kinds,
): ReadonlyMap<number, number> {
  const exceptions = new Map<number, number>()
  const byKey = new StylesByKey()
  for (const [number, measured] of all.entries()) {
    const seen = containers[number]!
    const { styles } = seen.isObject ? kinds.objects : kinds.arrays
    let style = byKey.get(measured)
    if (!hasStyle(seen, styles[style]!)) {
      style = styles.findIndex(style => hasStyle(seen, style))
      exceptions.set(number, style)
    }
    byKey.set(measured, style)
  }
  return exceptions
}

/** Styles of arrays, or of objects, at most. */
const MAX_STYLES = 4

/** The styles of arrays, or of objects, the usual ones first; `undefined` if they are too many. */
function stylesOf(seen: SeenGaps, isObject: boolean): KindLayout | undefined {
  const counts = new Map<Style, number>()
  const add = (style: Style) => counts.set(style, (counts.get(style) ?? 0) + 1)
  const own = seen.containers.filter(container => container.isObject === isObject)
  const withoutComma: SeenContainer[] = []
  for (const container of own) {
    if (container.comma === UNKNOWN) withoutComma.push(container)
    else add(seenStyle(container, container.comma))
    if (counts.size > MAX_STYLES) return undefined
  }
  const styles = [...counts.keys()]
  for (const container of withoutComma) {
    const breaks = breaksLines(seenStyle(container, BLANK))
    add(
      styles.find(style => hasStyle(container, style)) ??
        seenStyle(container, breaks ? LINE_BREAK : BLANK),
    )
  }
  if (counts.size > MAX_STYLES) return undefined
  const usual = [...counts].sort((a, b) => b[1] - a[1]).map(([style]) => style)
  const long = usual.find(breaksLines)
  const short = usual.find(style => !breaksLines(style))
  const first = long === undefined || short === undefined ? [] : [long, short]
  return {
    empty: isObject ? seen.emptyObject : seen.emptyArray,
    styles: [...new Set([...first, ...usual])],
    width: 0,
  }
}

/** Whether a container may be in this style. */
function hasStyle(container: SeenContainer, style: Style): boolean {
  const { comma } = container.comma === UNKNOWN ? gapsOf(style) : container
  return seenStyle(container, comma) === style
}

/** The style of a container, if it has such a gap after commas. */
function seenStyle({ open, close, colon }: SeenContainer, comma: Gap): Style {
  return styleOf(open, comma, close, Math.max(colon, 0))
}

/** Wider lines have any width. */
const MAX_WIDTH = 999
/** Prettier's and most others', taken if no width has fewer exceptions. */
const USUAL_WIDTH = 80

/** Arrays, or objects, by the column in which they end, or would end, on one line. */
interface Columns {
  readonly short: Uint32Array
  readonly long: Uint32Array
}

/** The kinds with the widths that predict the styles of most containers. */
function bestWidths(
  all: readonly Measured[],
  containers: readonly SeenContainer[],
  kinds: Kinds,
): Kinds {
  const arrays = { ...kinds.arrays, width: MAX_WIDTH }
  const objects = { ...kinds.objects, width: MAX_WIDTH }
  const columns = { arrays: newColumns(), objects: newColumns() }
  flatWidths(all, { arrays, objects }, (number, width) => {
    const seen = containers[number]!
    const end = seen.column + width + Number(all[number]!.isFollowed)
    const own = seen.isObject ? columns.objects : columns.arrays
    const isLong = Math.max(seen.open, seen.comma, seen.close) >= LINE_BREAK
    ;(isLong ? own.long : own.short)[Math.min(end, MAX_WIDTH + 1)]!++
    return isLong ? BROKEN : undefined
  })
  return {
    arrays: { ...arrays, width: bestWidth(arrays, columns.arrays) },
    objects: { ...objects, width: bestWidth(objects, columns.objects) },
  }
}

const BROKEN = styleOf(LINE_BREAK, LINE_BREAK, LINE_BREAK, 0)

function newColumns(): Columns {
  return { short: new Uint32Array(MAX_WIDTH + 2), long: new Uint32Array(MAX_WIDTH + 2) }
}

function bestWidth({ styles: [first, second] }: KindLayout, { short, long }: Columns): number {
  if (first === undefined || second === undefined) return 0
  if (!breaksLines(first) || breaksLines(second)) return 0
  // With no width, all short ones are wrong.
  let wrong = sumOf(short)
  let fewest = wrong
  let best = 0
  for (let width = 1; width <= MAX_WIDTH; width++) {
    wrong += long[width]! - short[width]!
    if (wrong > fewest || (wrong === fewest && width !== USUAL_WIDTH)) continue
    fewest = wrong
    best = width
  }
  return sumOf(long) < fewest ? Number.POSITIVE_INFINITY : best
}

function sumOf(counts: Uint32Array): number {
  return counts.reduce((sum, count) => sum + count, 0)
}
