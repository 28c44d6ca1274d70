import { hunkEnd } from '../../classify/hunk-end.ts'
import { countsOf, RAW_HUNK } from '../../formats/text/diff-hunks.ts'

/** A hunk whose header counts its lines rightly. Indexes of lines; `end` is exclusive. */
export interface Hunk {
  readonly start: number
  readonly end: number
  /** The first line of the hunk in both files, counted from 1. */
  readonly oldLine: number
  readonly newLine: number
  /** What the header has after its second `@@`. */
  readonly rest: string
}

/** The part of a diff that is about one file. */
export interface DiffFile {
  readonly start: number
  readonly end: number
  /** As its header names it, without `a/` or `b/`; empty: no header names it. */
  readonly path: string
  readonly state: 'new' | 'deleted' | 'changed'
  /** In order, without those whose headers count other lines than they have. */
  readonly hunks: readonly Hunk[]
  /** Whether these are all of its hunks. */
  readonly isSound: boolean
}

/** The files of a unified diff, in order; lines that are of no file belong to the one before. */
export function readDiffFiles(lines: readonly string[]): readonly DiffFile[] {
  const files: DiffFile[] = []
  let start = 0
  let hunks: Hunk[] = []
  let isSound = true
  const close = (end: number) => {
    if (hunks.length > 0 || !isSound) {
      const header = lines.slice(start, hunks[0]?.start ?? end)
      files.push({ start, end, ...namedIn(header), hunks, isSound })
    }
    start = end
    hunks = []
    isSound = true
  }
  for (let at = 0; at < lines.length; ) {
    const counts = RAW_HUNK.exec(lines[at]!)
    if (counts !== null) {
      const end = hunkEnd(lines, at, [counts[2], counts[4]])
      const hunk = readHunk(lines, at, end)
      if (hunk === null) isSound = false
      else hunks.push(hunk)
      at = end
      continue
    }
    if (startsFile(lines, at)) close(at)
    at++
  }
  close(lines.length)
  return files
}

function startsFile(lines: readonly string[], at: number): boolean {
  const line = lines[at]!
  if (line.startsWith('diff --') || line.startsWith('Index: ')) return true
  // Git writes both; then the file has begun already.
  return (
    line.startsWith('--- ') &&
    lines[at + 1]?.startsWith('+++ ') === true &&
    !/^(?:index |new file|deleted file|rename to|new mode|====|diff )/.test(lines[at - 1] ?? '')
  )
}

/** Returns `null` if the header counts other lines than the hunk has. */
function readHunk(lines: readonly string[], start: number, end: number): Hunk | null {
  const [, oldStart, olds = '1', newStart, news = '1', rest = ''] = RAW_HUNK.exec(lines[start]!)!
  const { before, after } = countsOf(lines.slice(start + 1, end))
  if (before !== Number(olds) || after !== Number(news)) return null
  return {
    start,
    end,
    // A side without lines names the line before it.
    oldLine: Number(oldStart) + (before === 0 ? 1 : 0),
    newLine: Number(newStart) + (after === 0 ? 1 : 0),
    rest,
  }
}

const NO_FILE = '/dev/null'

function namedIn(header: readonly string[]): Pick<DiffFile, 'path' | 'state'> {
  const names = { old: '', new: '' }
  for (const line of header) {
    if (line.startsWith('--- ')) names.old = bareName(line)
    if (line.startsWith('+++ ')) names.new = bareName(line)
  }
  const isNew = names.old === NO_FILE
  const isGone = names.new === NO_FILE
  return {
    path: isGone ? names.old : names.new,
    state: isNew ? 'new' : isGone ? 'deleted' : 'changed',
  }
}

/** The name without its mark, git's side, quotes, and the tab that `diff` puts a time after. */
function bareName(line: string): string {
  const [name = ''] = line.slice('+++ '.length).trimEnd().split('\t')
  const bare = name.startsWith('"') && name.endsWith('"') ? name.slice(1, -1) : name
  return /^[a-z]\//.test(bare) ? bare.slice(2) : bare
}
