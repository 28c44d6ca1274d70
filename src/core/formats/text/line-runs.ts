import { PIPE } from '../../json/char-codes.ts'

/** A line and how many times it stands there in a row. */
export interface LineRun {
  /** The line; or several neighbours that share nothing, with the line feeds between them. */
  readonly line: string
  readonly times: number
  /**
   * A reader needs its start in its place: a line of a diff's hunk, which is read and applied by
   * its first character, or a row of a Markdown table. So it is for several lines in one.
   */
  readonly isFixed: boolean
}

/** Shorter lines are repeated as they are; so are blank ones, which a reader sees as space. */
const MIN_REPEATED_CHARS = 8
/** Fewest characters of a prefix: to a reader, a shorter one does not justify a heading. */
export const MIN_PREFIX_CHARS = 6
/** A line by itself that its start distinguishes from others: see `prefixed.ts`. */
export const TIMES = '×'

/**
 * The lines of a text with equal neighbours counted. Lines that can neither share a prefix nor be
 * counted come together with their neighbours of that kind, so that a text of short lines does not
 * take an object for each.
 */
export function readLineRuns(text: string): readonly LineRun[] {
  const runs: LineRun[] = []
  const hunks = createHunkTracker(text)
  /** Start of the lines that go together; -1 if there are none. */
  let together = -1
  let last = ''
  let times = 0
  const flush = (end: number) => {
    if (times > 0) runs.push({ line: last, times, isFixed: false })
    times = 0
    if (together !== -1) runs.push({ line: text.slice(together, end), times: 1, isFixed: true })
    together = -1
  }
  for (let start = 0, end = 0; start <= text.length; start = end + 1) {
    end = text.indexOf('\n', start)
    if (end === -1) end = text.length
    const isFixed = hunks.has(start, end) || (start < end && text.charCodeAt(start) === PIPE)
    if (isFixed || end - start <= MIN_PREFIX_CHARS) {
      const isAlone = text.startsWith(TIMES, start)
      if (times > 0 || isAlone) flush(start - 1)
      if (isAlone) {
        runs.push({ line: text.slice(start, end), times: 1, isFixed: true })
        continue
      }
      if (together === -1) together = start
    } else {
      const length = end - start
      const repeats =
        times > 0 &&
        length === last.length &&
        length >= MIN_REPEATED_CHARS &&
        text.startsWith(last, start) &&
        last.trim() !== ''
      if (repeats) times++
      else {
        flush(start - 1)
        last = text.slice(start, end)
        times = 1
      }
    }
  }
  flush(text.length)
  return runs
}

/**
 * Reports line by line whether it belongs to a hunk, by the counts in the hunk's `@@ -1,2 +3,4 @@`.
 */
function createHunkTracker(text: string): { has(start: number, end: number): boolean } {
  let removed = 0
  let added = 0
  return {
    has(start, end) {
      if (removed > 0 || added > 0) {
        const mark = start < end ? text.charAt(start) : ''
        if (mark !== '+' && mark !== '\\') removed--
        if (mark !== '-' && mark !== '\\') added--
        return true
      }
      if (!text.startsWith('@@ -', start)) return false
      const line = text.slice(start, end)
      const counts = /^@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@/.exec(line)
      if (counts === null) return false
      removed = Number(counts[1] ?? 1)
      added = Number(counts[2] ?? 1)
      return true
    },
  }
}
