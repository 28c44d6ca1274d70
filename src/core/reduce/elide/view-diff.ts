import { lineCount, printedNames } from '../../formats/gutter/printed-lines.ts'
import { escapeMarks } from '../../hints/escape.ts'
import { lackingParts, withoutParts } from '../budget/prune-text.ts'
import type { Omission } from '../budget/prune-value.ts'
import { type DiffFile, type Hunk, readDiffFiles } from './diff-files.ts'
import { movedLines } from './moved-blocks.ts'
import { bracesReducer, indentsReducer } from './reduce-code.ts'
import { BULK, type Ranking } from './reducer.ts'

/** How much of a diff is shown: `compact` has no context, and begins with shorter diffs. */
export type DiffLevel = 'standard' | 'compact'

/** Lines of a diff up to which nothing goes, and lines of context that stay beside a change. */
const TERMS = {
  standard: { most: 200, context: 1 },
  compact: { most: 60, context: 0 },
} as const
/**
 * A shorter run of lines between two kept ones stays, because the header of a hunk would take as
 * much.
 */
const LEAST_GAP_CHARS = 24
/** Lines of a new file from which it is outlined. */
const LONG_FILE = 80

/**
 * A unified diff with less context, its hunks divided as `diff -U1` writes them: the numbers in a
 * hunk's header say which lines follow. Files that tools write, and whole deletions, are one mark
 * with their counts. Long new files are outlined, and lines that moved stand once, where they are
 * added. Every other changed line stays. The first line says so.
 * @param inner what goes of long lines outside of hunks
 * @returns `null` if nothing is to go
 */
export function viewDiff(
  lines: readonly string[],
  level: DiffLevel,
  inner?: Ranking['inner'],
): { readonly text: string; readonly omissions: readonly Omission[] } | null {
  const { most, context } = TERMS[level]
  // Marks here count lines, so the lines must have no other numbers.
  if (lineCount(lines) <= most || printedNames(lines) !== null) return null
  const writer = createWriter(lines, inner)
  const files = readDiffFiles(lines)
  const outlines = new Map(files.map(file => [file, outlineIn(lines, file)]))
  const isCounted = ({ state, path, isSound }: DiffFile) =>
    isSound && (state === 'deleted' || isDerivedFile(path))
  const isWhole = (file: DiffFile) => !isCounted(file) && outlines.get(file) === null
  const moved = movedLines(lines, files.filter(isWhole))
  for (const file of files) {
    if (isCounted(file)) writeCounts(lines, file, writer)
    else {
      const outline = outlines.get(file) ?? null
      for (const hunk of file.hunks) {
        const stays = outline ?? nearChanges(lines, hunk, context, moved)
        cutHunk(lines, hunk, { stays, moved }, writer)
      }
    }
  }
  const { text, omissions } = writer.finish()
  if (omissions.length === 0) return null
  return { text: `[… lines 1-${lineCount(lines)} with context ${context}]\n${text}`, omissions }
}

type Writer = ReturnType<typeof createWriter>

/** Lines of a diff in order; those up to the next one that is written are kept. */
function createWriter(lines: readonly string[], inner: Ranking['inner']) {
  const out: string[] = []
  const omissions: Omission[] = []
  let next = 0
  const keepTo = (end: number) => {
    for (; next < end; next++) {
      const gaps = inner?.get(next)
      if (gaps !== undefined) omissions.push(lackingParts(next + 1))
      out.push(gaps ? withoutParts(lines[next]!, gaps) : escapeMarks(lines[next]!))
    }
  }
  const omit = (start: number, end: number) => {
    keepTo(start)
    next = end
    omissions.push({
      at: `lines ${start + 1}-${end}`,
      unit: 'lines',
      omitted: end - start,
      of: lineCount(lines),
    })
  }
  return {
    keepTo,
    omit,
    /** Writes `text` instead of the line `at`. */
    replace(at: number, text: string) {
      keepTo(at)
      out.push(text)
      next = at + 1
    },
    write: (text: string) => out.push(text),
    finish() {
      keepTo(lines.length)
      return { text: out.join('\n'), omissions }
    },
  }
}

/** The hunks of a file as one mark with the lines that it adds and removes. */
function writeCounts(lines: readonly string[], { hunks }: DiffFile, writer: Writer): void {
  const [first] = hunks
  const end = hunks.at(-1)?.end
  if (first === undefined || end === undefined || end - first.start <= 2) return
  let added = 0
  let removed = 0
  for (const hunk of hunks) {
    for (let at = hunk.start + 1; at < hunk.end; at++) {
      if (lines[at]!.startsWith('+')) added++
      else if (lines[at]!.startsWith('-')) removed++
    }
  }
  writer.omit(first.start, end)
  writer.write(`[… lines ${first.start + 1}-${end} +${added} −${removed}]`)
}

/** By a line's place in its hunk, whether it is of a long new file's outline. */
function outlineIn(
  lines: readonly string[],
  { state, hunks: [only] }: DiffFile,
): readonly boolean[] | null {
  if (state !== 'new' || only === undefined || only.end - only.start <= LONG_FILE) return null
  const outline = outlineOf(lines.slice(only.start + 1, only.end).map(line => line.slice(1)))
  return outline && [true, ...outline]
}

/** By a line's place in its hunk, whether it changed, or is near a change. */
function nearChanges(
  lines: readonly string[],
  { start, end }: Hunk,
  context: number,
  moved: ReadonlySet<number>,
): readonly boolean[] {
  const stays = new Array<boolean>(end - start).fill(false)
  for (let at = start + 1; at < end; at++) {
    if (!isChange(lines[at]!) || moved.has(at)) continue
    stays.fill(true, Math.max(1, at - context - start), Math.min(end, at + context + 1) - start)
  }
  for (let at = start + 1; at < end; at++) if (moved.has(at)) stays[at - start] = false
  return stays
}

function isChange(line: string): boolean {
  return line.startsWith('+') || line.startsWith('-')
}

/** A run of a hunk's lines that stay, and the lines of both files at which it begins. */
interface LineRun {
  readonly start: number
  end: number
  readonly oldLine: number
  readonly newLine: number
  olds: number
  news: number
}

/** Writes the kept lines of a hunk, as a hunk for each run of them. */
function cutHunk(
  lines: readonly string[],
  hunk: Hunk,
  { stays, moved }: { stays: readonly boolean[]; moved: ReadonlySet<number> },
  writer: Writer,
): void {
  const omit = (start: number, end: number) => {
    writer.omit(start, end)
    for (let at = start; at < end; at++) {
      if (!moved.has(at)) continue
      writer.write(`[… lines ${start + 1}-${end} moved]`)
      return
    }
  }
  const runs = runsOf(lines, hunk, at => stays[at - hunk.start] === true)
  const [first] = runs
  if (first === undefined || (first.start === hunk.start + 1 && first.end === hunk.end)) return
  let last = hunk.start + 1
  runs.forEach(({ start, end, oldLine, newLine, olds, news }, index) => {
    const old = range(oldLine, olds)
    const header = `@@ -${old} +${range(newLine, news)} @@${index === 0 ? hunk.rest : ''}`
    if (index === 0) writer.replace(hunk.start, header)
    if (last < start) omit(last, start)
    if (index > 0) writer.write(header)
    writer.keepTo(end)
    last = end
  })
  if (last < hunk.end) omit(last, hunk.end)
}

/** The start and count of one side; a side without lines names the line before it. */
function range(line: number, count: number): string {
  if (count === 1) return String(line)
  return `${count === 0 ? line - 1 : line},${count}`
}

function runsOf(
  lines: readonly string[],
  hunk: Hunk,
  stays: (at: number) => boolean,
): readonly LineRun[] {
  const runs: LineRun[] = []
  let { oldLine, newLine } = hunk
  /** Characters since the last run. */
  let gap = Number.POSITIVE_INFINITY
  for (let at = hunk.start + 1; at < hunk.end; at++) {
    const line = lines[at]!
    const run = runs.at(-1)
    if (line.startsWith('\\')) {
      // A note on the line before it.
      if (run !== undefined && run.end === at) run.end = at + 1
      continue
    }
    const isOld = !line.startsWith('+')
    const isNew = !line.startsWith('-')
    if (!stays(at)) {
      gap += line.length + 1
    } else {
      if (run !== undefined && gap < LEAST_GAP_CHARS) {
        run.end = at + 1
        run.olds = oldLine + (isOld ? 1 : 0) - run.oldLine
        run.news = newLine + (isNew ? 1 : 0) - run.newLine
      } else {
        const sides = { olds: isOld ? 1 : 0, news: isNew ? 1 : 0 }
        runs.push({ start: at, end: at + 1, oldLine, newLine, ...sides })
      }
      gap = 0
    }
    if (isOld) oldLine++
    if (isNew) newLine++
  }
  return runs
}

/**
 * Which lines of a file of source code make its outline; `null` for any other file.
 * @param lines of the file, without a diff's signs
 */
function outlineOf(lines: readonly string[]): readonly boolean[] | null {
  const view = { lines, chars: lines.reduce((sum, line) => sum + line.length + 1, 0) }
  const reducer = [bracesReducer, indentsReducer].find(({ accepts }) => accepts(view))
  return reducer === undefined ? null : Array.from(reducer.rank(view).ranks, rank => rank !== BULK)
}

/**
 * Files that are not read line by line: written by tools, or copied from elsewhere. Each entry is
 * compared with whole components of a path, so that `lock` never means `clock.ts`.
 */
const DERIVED_NAMES = new Set([
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'bun.lock',
  'bun.lockb',
  'deno.lock',
  'Cargo.lock',
  'Gemfile.lock',
  'Pipfile.lock',
  'poetry.lock',
  'pdm.lock',
  'uv.lock',
  'composer.lock',
  'mix.lock',
  'pubspec.lock',
  'Podfile.lock',
  'Package.resolved',
  'packages.lock.json',
  'gradle.lockfile',
  'flake.lock',
  'go.sum',
  'go.work.sum',
])
const DERIVED_FOLDERS = new Set([
  'node_modules',
  'vendor',
  'third_party',
  '__generated__',
  '__snapshots__',
])
/** Ends of a file's name, each after a dot that begins a part of it. */
const DERIVED_ENDINGS = [
  '.min.js',
  '.min.css',
  '.min.mjs',
  '.bundle.js',
  '.map',
  '.snap',
  '.pb.go',
  '.pb.cc',
  '.pb.h',
  '_pb2.py',
  '_pb2_grpc.py',
  '.g.dart',
  '.freezed.dart',
  '.designer.cs',
  '.g.cs',
  '.generated.ts',
  '.generated.go',
]

/** Whether a file is a lock file, generated, vendored or minified, by its path alone. */
export function isDerivedFile(path: string): boolean {
  const parts = path.split('/')
  const name = parts.pop() ?? ''
  if (DERIVED_NAMES.has(name) || parts.some(part => DERIVED_FOLDERS.has(part))) return true
  const lower = name.toLowerCase()
  return DERIVED_ENDINGS.some(ending => lower.endsWith(ending) && lower.length > ending.length)
}
