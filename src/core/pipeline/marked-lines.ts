import { Gap } from '../formats/gaps.ts'
import { parseJson } from '../json/parse-json.ts'
import { ObjectValue, type Value } from '../json/value.ts'
import type { Omission } from '../reduce/budget/prune-value.ts'

/** What shows where parts are missing. */
export interface LeftMarks {
  /** What is left as a value with a gap in each place where items are missing; absent: none is. */
  readonly marked?: Value
  /** The content without its marks, if it has some that the gaps of `marked` replace. */
  readonly unmarked?: string
  /** Marks of ours in strings of it; absent: none. */
  readonly innerMarks?: number
}

/** As a gap's writer names lines. */
const LINES = /^lines (\d+)-(\d+)$/

/**
 * Objects, each on a line, as a list with a gap in each place where lines are missing. So they can
 * be a table. Returns `null` if a kept line is no object.
 * @param omissions of lines by their numbers, in order
 */
export function markedLines(
  lines: readonly string[],
  omissions: readonly Omission[],
): Pick<LeftMarks, 'marked' | 'unmarked'> | null {
  if (lines[0]?.startsWith('{') !== true) return null
  const marked: Value[] = []
  const kept: string[] = []
  let next = 0
  const keep = (end: number): boolean => {
    for (; next < end; next++) {
      const line = lines[next]!
      kept.push(line)
      if (line === '' && next === lines.length - 1) continue
      const parsed = parseJson(line)
      if (!parsed.ok || !(parsed.value instanceof ObjectValue)) return false
      marked.push(parsed.value)
    }
    return true
  }
  for (const { at, unit } of omissions) {
    const [, first, last] = LINES.exec(at) ?? []
    if (unit !== 'lines' || first === undefined || !keep(Number(first) - 1)) return null
    next = Number(last)
    marked.push(new Gap(next - Number(first) + 1))
  }
  return keep(lines.length) ? { marked, unmarked: kept.join('\n') } : null
}
