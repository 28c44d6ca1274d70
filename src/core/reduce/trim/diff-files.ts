import { hunkEnd } from '../../classify/hunk-end.ts'

/**
 * A file of a unified diff: lines `[start, end)`, of which those before the first hunk are its
 * header.
 */
export interface DiffFile {
  readonly path: string | undefined
  readonly start: number
  readonly end: number
  /** First line of each hunk. */
  readonly hunks: readonly number[]
}

const GIT_HEADER = /^diff --git (?:"?a\/.*)"? "?b\/(.*?)"?$/
const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/

/**
 * The files of a unified diff, in order. A file starts at git's own line, or at `---` and `+++`
 * outside of a hunk; within a hunk's counted lines the same is content. Linear.
 */
export function diffFiles(lines: readonly string[]): readonly DiffFile[] {
  const files: { path: string | undefined; start: number; end: number; hunks: number[] }[] = []
  for (let at = 0; at < lines.length; ) {
    const line = lines[at]!
    const current = files.at(-1)
    const isOpen = current !== undefined && current.hunks.length === 0
    if (line.startsWith('diff --git ')) {
      files.push({ path: gitPath(line), start: at, end: lines.length, hunks: [] })
    } else if (line.startsWith('--- ') && lines[at + 1]?.startsWith('+++ ') === true) {
      const path = markedPath(lines[at + 1]!) ?? markedPath(line)
      // git's own header comes before these two lines.
      if (isOpen && lines[current.start]!.startsWith('diff --git '))
        current.path = path ?? current.path
      else files.push({ path, start: at, end: lines.length, hunks: [] })
      at++
    } else if (current !== undefined) {
      const hunk = HUNK.exec(line)
      if (hunk !== null) {
        current.hunks.push(at)
        at = hunkEnd(lines, at, hunk.slice(1))
        continue
      }
    }
    at++
  }
  files.forEach((file, index) => {
    file.end = files[index + 1]?.start ?? lines.length
  })
  return files
}

function gitPath(line: string): string | undefined {
  return GIT_HEADER.exec(line.trimEnd())?.[1]
}

/** The path of a `---` or `+++` line without its prefix and time stamp. */
function markedPath(line: string): string | undefined {
  const path = line.slice(4).split('\t', 1)[0]!.trim()
  return path === '/dev/null' || path === '' ? undefined : path.replace(/^[abciow]\//, '')
}
