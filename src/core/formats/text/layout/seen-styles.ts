import {
  BLANK,
  breaksLines,
  type Gap,
  gapsOf,
  type KindLayout,
  LINE_BREAK,
  type Style,
  styleOf,
} from './layout.ts'
import { type SeenContainer, type SeenGaps, UNKNOWN } from './scan-gaps.ts'

/** Styles of arrays, or of objects, at most. */
const MAX_STYLES = 4

/** The styles of arrays, or of objects, the usual ones first; `undefined` if they are too many. */
export function stylesOf(seen: SeenGaps, isObject: boolean): KindLayout | undefined {
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
export function hasStyle(container: SeenContainer, style: Style): boolean {
  const { comma } = container.comma === UNKNOWN ? gapsOf(style) : container
  return seenStyle(container, comma) === style
}

/** The style of a container, if it has such a gap after commas. */
function seenStyle({ open, close, colon }: SeenContainer, comma: Gap): Style {
  return styleOf(open, comma, close, Math.max(colon, 0))
}
