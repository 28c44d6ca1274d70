/** A line and how many times it stands there in a row. */
export interface LineRun {
  readonly line: string
  readonly times: number
  /**
   * A reader needs its beginning where it is: a line of a diff's hunk, which is read and applied by its first
   * character, or a row of a Markdown table.
   */
  readonly isFixed: boolean
}

/** Shorter lines are repeated as they are; so are blank ones, which a reader sees as space. */
const MIN_REPEATED_CHARS = 8

/** The lines of a text with equal neighbours counted. */
export function readLineRuns(text: string): readonly LineRun[] {
  const runs: LineRun[] = []
  const hunks = createHunkTracker()
  let last = ''
  let times = 0
  let isFixed = false
  const flush = () => {
    if (times > 0) runs.push({ line: last, times, isFixed })
  }
  for (const line of text.split('\n')) {
    const isNextFixed = hunks.has(line) || line.startsWith('|')
    const repeats = times > 0 && line === last && line.length >= MIN_REPEATED_CHARS
    if (repeats && !isNextFixed && !isFixed && line.trim() !== '') times++
    else {
      flush()
      last = line
      times = 1
      isFixed = isNextFixed
    }
  }
  flush()
  return runs
}

/** Tells line by line whether it belongs to a hunk, by the counts in the hunk's `@@ -1,2 +3,4 @@`. */
function createHunkTracker(): { has(line: string): boolean } {
  let removed = 0
  let added = 0
  return {
    has(line) {
      if (removed > 0 || added > 0) {
        const mark = line.charAt(0)
        if (mark !== '+' && mark !== '\\') removed--
        if (mark !== '-' && mark !== '\\') added--
        return true
      }
      if (!line.startsWith('@@ -')) return false
      const counts = /^@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@/.exec(line)
      if (counts === null) return false
      removed = Number(counts[1] ?? 1)
      added = Number(counts[2] ?? 1)
      return true
    },
  }
}
