import { CRITICAL, STRUCTURE, type TextReducer } from './reducer.ts'
import { severityOf } from './severity.ts'

/** After the path of a match, before its text; lines around a match have dashes instead. */
const HIT = /^:\d{1,9}:/
const AROUND = /-\d{1,9}-/
const DRIVE = /^[A-Za-z]:/
const NOT_IN_PATHS = /[\s"<>|{},=]/
const PATH_LIKE = /[./\\]/
/** A hit of one file: `12:text`. A time begins like that. */
const BARE_HIT = /^\d{1,9}:/
const BARE_AROUND = /^\d{1,9}-/
const TIME = /^\d{1,2}:\d{2}\b/
/** A date begins like a line around a match. */
const DATE = /^\d{4}-\d\d-\d\d(?:T|\b)/
/** Characters of a path. */
const LONGEST_PATH = 400

const LEAST_LINES = 5
const HIT_SHARE = 0.5

/** Files that are shown, matches of one file, and of all. */
const MOST_FILES = 15
const MOST_PER_FILE = 5
const MOST_HITS = 30

/**
 * Results of a search. Kept are the first match, the last and some between them of each of the
 * first files, every match that reports a failure, and lines that are not matches.
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
        if (isAround(line)) {
          if (severityOf(line.slice(line.search(AROUND))) === 'failure') ranks[at] = CRITICAL
          return
        }
        ranks[at] = STRUCTURE
        heading = line
        return
      }
      const hits = files.get(file)
      if (hits === undefined) files.set(file, [at])
      else hits.push(at)
      if (severityOf(line.slice(line.startsWith(file) ? file.length : 0)) !== null) {
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

/**
 * Whether a text is mostly matches with lines around them. The agent asked for these lines, so no
 * other reducer may leave them out.
 */
export function isSearchWithContext(lines: readonly string[]): boolean {
  const around = lines.filter(isAround).length
  if (around < LEAST_LINES) return false
  const hits = lines.filter(line => fileOf(line, '') !== null).length
  return around + Math.min(hits, around) >= lines.length * HIT_SHARE
}

/**
 * The file that a line is a match in, as in `path:12:text`, or `12:text` below a line that names
 * it. Returns `null` if the line is no match.
 */
function fileOf(line: string, heading: string): string | null {
  const colon = line.indexOf(':', DRIVE.test(line) ? 2 : 0)
  if (colon > 0 && colon <= LONGEST_PATH && HIT.test(line.slice(colon, colon + 12))) {
    const path = line.slice(0, colon)
    if (PATH_LIKE.test(path) && !NOT_IN_PATHS.test(path)) return path
  }
  return BARE_HIT.test(line) && !TIME.test(line) ? heading : null
}

function isAround(line: string): boolean {
  if (DATE.test(line)) return false
  if (BARE_AROUND.test(line)) return true
  const head = line.slice(0, LONGEST_PATH)
  const space = head.search(NOT_IN_PATHS)
  const path = space === -1 ? head : head.slice(0, space)
  return PATH_LIKE.test(path) && AROUND.test(path)
}

/** At most `most` of some numbers: the first, the last, and others at even distances. */
function spread(numbers: readonly number[], most: number): readonly number[] {
  if (numbers.length <= most) return numbers
  if (most <= 1) return numbers.slice(0, most)
  const step = (numbers.length - 1) / (most - 1)
  return Array.from({ length: most }, (_, index) => numbers[Math.round(index * step)]!)
}
