import { breaksLines, type KindLayout, type Layout, LINE_BREAK, styleOf } from './layout.ts'
import { flatWidths, type Measured } from './measure.ts'
import type { SeenContainer } from './scan-gaps.ts'

/** Wider lines have any width. */
const MAX_WIDTH = 999
/** Prettier's and most others', taken if no width has fewer exceptions. */
const USUAL_WIDTH = 80

type Kinds = Pick<Layout, 'arrays' | 'objects'>

/** Arrays, or objects, by the column in which they end, or would end, on one line. */
interface Columns {
  readonly short: Uint32Array
  readonly long: Uint32Array
}

/** The kinds with the widths that predict the styles of most containers. */
export function bestWidths(
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
