import { CRITICAL, STRUCTURE, type TextReducer } from './reducer.ts'
import { severityOf } from './severity.ts'

/** `path:12:text` and, for lines around a match, `path-12-text`, as grep and its like print them; of one file `12:text`. */
const HIT = /^((?:[A-Za-z]:)?[^\s:]{1,400}):\d{1,9}:/
const AROUND = /^(?:[^\s:]{1,400}-)?\d{1,9}-/
const PATH_LIKE = /[./\\]/
const BARE_HIT = /^\d{1,9}:/
/** A time begins like a match in one file. */
const TIME = /^\d{1,2}:\d{2}\b/

const LEAST_LINES = 5
const HIT_SHARE = 0.5

/** Files that are shown, matches of one file, and of all. */
const MOST_FILES = 15
const MOST_PER_FILE = 5
const MOST_HITS = 30

/**
 * Results of a search: of each of the first files the first match, the last and some between them; every match that tells
 * of a failure; and what is no match.
 */
export const searchReducer: TextReducer = {
  kind: 'search',
  accepts({ lines }) {
    if (lines.length < LEAST_LINES) return false
    let hits = 0
    let filled = 0
    for (const line of lines) {
      if (line.trim() === '') continue
      filled++
      if (fileOf(line, '') !== null) hits++
    }
    return hits >= LEAST_LINES && hits >= filled * HIT_SHARE
  },
  rank({ lines }) {
    const ranks = new Uint8Array(lines.length)
    const files = new Map<string, number[]>()
    // Matches without a path belong to the line above them that names their file.
    let heading = ''
    lines.forEach((line, at) => {
      const file = fileOf(line, heading)
      if (file === null) {
        if (AROUND.test(line)) return
        ranks[at] = STRUCTURE
        heading = line
        return
      }
      const hits = files.get(file)
      if (hits === undefined) files.set(file, [at])
      else hits.push(at)
      if (severityOf(line.slice(line.startsWith(file) ? file.length : 0)) === 'failure') {
        ranks[at] = CRITICAL
      }
    })
    let left = MOST_HITS
    for (const hits of [...files.values()].slice(0, MOST_FILES)) {
      for (const at of spread(hits, Math.min(MOST_PER_FILE, left))) {
        left--
        if (ranks[at]! < STRUCTURE) ranks[at] = STRUCTURE
      }
    }
    return { ranks }
  },
}

/** Whether a text is mostly lines around matches: these were asked for, and go with no other reducer's rules. */
export function isSearchWithContext(lines: readonly string[]): boolean {
  const around = lines.filter(line => AROUND.test(line)).length
  return around >= LEAST_LINES && around >= lines.length * HIT_SHARE
}

function fileOf(line: string, heading: string): string | null {
  const path = HIT.exec(line)?.[1]
  if (path !== undefined && PATH_LIKE.test(path)) return path
  return BARE_HIT.test(line) && !TIME.test(line) ? heading : null
}

/** At most `most` of some numbers: the first, the last, and others at even distances. */
function spread(numbers: readonly number[], most: number): readonly number[] {
  if (numbers.length <= most) return numbers
  if (most <= 1) return numbers.slice(0, most)
  const step = (numbers.length - 1) / (most - 1)
  return Array.from({ length: most }, (_, index) => numbers[Math.round(index * step)]!)
}
