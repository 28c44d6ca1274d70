import { INNER_FORMATS, type InnerFormat } from '../../core/classify/inner-formats.ts'
import type { ShapeName } from '../../core/telemetry/event.ts'
import { entryOf } from '../entry-of.ts'
import { formatsOf, MAX_LEVEL } from '../format-levels.ts'
import type { Mined } from '../mine-log.ts'

/** From this level on, formats in strings are found only by recursion. */
export const DEEP_LEVEL = 3

/** JSON results of one shape. */
export interface Nesting {
  results: number
  /** With formats in strings, and with formats at `DEEP_LEVEL` or deeper. */
  with_formats: number
  deep: number
}

/** Where in JSON the formats are. */
export interface NestingStudy {
  readonly shapes: Readonly<Partial<Record<ShapeName, Nesting>>>
  /** By format: results that have it at each level, from 1; the last is of all that is deeper. */
  readonly levels: Readonly<Partial<Record<InnerFormat, readonly number[]>>>
}

export function createNesting() {
  const shapes = new Map<ShapeName, Nesting>()
  const levels = new Map(INNER_FORMATS.map(format => [format, Array<number>(MAX_LEVEL).fill(0)]))
  return {
    add({ event, levels: masks }: Mined): void {
      if (masks.length === 0) return
      const nesting = entryOf(shapes, event.shape, () => ({ results: 0, with_formats: 0, deep: 0 }))
      nesting.results++
      if (masks.some(mask => mask !== 0)) nesting.with_formats++
      if (masks.slice(DEEP_LEVEL - 1).some(mask => mask !== 0)) nesting.deep++
      for (const [level, mask] of masks.entries()) {
        for (const format of formatsOf(mask)) levels.get(format)![level]!++
      }
    },
    result: (): NestingStudy => ({
      shapes: Object.fromEntries(shapes),
      levels: Object.fromEntries([...levels].filter(([, counts]) => counts.some(n => n > 0))),
    }),
  }
}
