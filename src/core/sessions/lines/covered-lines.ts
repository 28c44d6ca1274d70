import { countLines } from '../../formats/work.ts'
import type { PlannedRun } from './plan-lines.ts'
import { startsOfLines } from './scan-text.ts'

/**
 * Lines of a text that an answer had as references, so that a reader of the answer has not got them
 * there. Ranges one after the other: a line counted from 0, and the line after the last.
 */
export type CoveredLines = readonly number[]

/** 1 for each line that is covered; `null` if none is. */
export function coverageOf(covered: CoveredLines, lines: number): Uint8Array | null {
  if (covered.length === 0) return null
  const marks = new Uint8Array(lines)
  for (let at = 0; at + 1 < covered.length; at += 2) marks.fill(1, covered[at], covered[at + 1])
  return marks
}

/** The lines of a text that are references in an answer of these runs. */
export function linesCovered(runs: readonly Pick<PlannedRun, 'from' | 'end'>[]): readonly number[] {
  return runs.flatMap(({ from, end }) => [from, end])
}

/** The part of `covered` in the lines `from` to before `end`, counted from there. */
export function coveredWithin(covered: CoveredLines, from: number, end: number): CoveredLines {
  const within: number[] = []
  for (let at = 0; at + 1 < covered.length; at += 2) {
    const first = Math.max(covered[at]!, from)
    const last = Math.min(covered[at + 1]!, end)
    if (first < last) within.push(first - from, last - from)
  }
  return within
}

/**
 * The same of texts that are part of a larger one, each unchanged in lines of its own, as lines of
 * all these texts after one another.
 * @param covered lines of the larger text
 * @param texts in the order in which it may have them; one that it does not have counts as covered
 */
export function coveredInParts(
  whole: Uint8Array,
  covered: CoveredLines,
  texts: readonly string[],
): CoveredLines {
  const bytes = Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength)
  const starts = startsOfLines(whole)
  const found: number[] = []
  let after = 0
  let line = 0
  let total = 0
  for (const text of texts) {
    const lines = countLines(text)
    const at = starts === null ? -1 : placeOf(Buffer.from(text, 'utf8'), bytes, after)
    if (at === -1) found.push(total, total + lines)
    else {
      while (starts![line]! < at) line++
      const own = coveredWithin(covered, line, line + lines)
      for (const each of own) found.push(each + total)
      after = starts![line + lines] ?? bytes.length
    }
    total += lines
  }
  return found
}

const LINE_FEED = 0x0a

/** Where a text begins that has whole lines of another one, from `after` on; -1: nowhere. */
function placeOf(text: Buffer, bytes: Buffer, after: number): number {
  const at = bytes.indexOf(text, after)
  if (at === -1) return -1
  const end = at + text.length
  const isWhole =
    (at === 0 || bytes[at - 1] === LINE_FEED) && (end === bytes.length || bytes[end] === LINE_FEED)
  return isWhole ? at : -1
}
