import type { ShapeReport } from '../../classify/classify.ts'
import { hunkEnd } from '../../classify/hunk-end.ts'
import { isMarkdown } from '../budget/document.ts'
import { markdownSpans, type Span } from '../budget/price-text.ts'
import { severityOf } from '../elide/severity.ts'
import type { ItemKind } from './kinds.ts'

/**
 * Lines `[start, end)`. If anything of them is kept, the first `head` and the last `tail` lines are
 * kept too.
 */
export interface TextBlock {
  readonly start: number
  readonly end: number
  readonly head: number
  readonly tail: number
  /** Blocks below the head, to its end; none if its lines are single items. */
  readonly blocks: readonly TextBlock[]
  /** Whether it must stay, unless it was requested by itself. */
  readonly required?: true
}

/** What the items of a text are. Lines before the first one are none. */
export interface TextItems {
  readonly kind: ItemKind
  readonly items: readonly (TextBlock & { readonly path?: string; readonly isError?: boolean })[]
}

/** With fewer items there is no choice. */
const LEAST_ITEMS = 2
/** Lines of a log, at least. */
const LEAST_LINES = 8

/**
 * Files of a diff, sections of Markdown or lines of a log; `null` for any other text.
 * @param asLines whether any text that is neither of the first two is one of lines
 */
export function findTextItems(
  lines: readonly string[],
  shape: ShapeReport,
  asLines: boolean,
): TextItems | null {
  const { inner_formats } = shape
  if (inner_formats.includes('diff')) {
    const items = diffFiles(lines).map(({ path, start, end, hunks }) => ({
      start,
      end,
      head: (hunks[0] ?? end) - start,
      tail: 0,
      blocks: hunks.map((hunk, index) => leaf(hunk, hunks[index + 1] ?? end, 1)),
      ...(path === undefined ? {} : { path }),
    }))
    if (items.length >= LEAST_ITEMS) return { kind: 'diff', items }
  }
  if (isMarkdown(shape)) {
    const items = sections(lines)
    const before = items[0]?.start ?? 0
    if (items.length >= LEAST_ITEMS && before < lines.length / 2) return { kind: 'section', items }
  }
  const isLog = asLines || inner_formats.includes('log') || inner_formats.includes('stack_trace')
  return isLog && lines.length >= LEAST_LINES ? { kind: 'line', items: lines.map(lineItem) } : null
}

function lineItem(line: string, at: number) {
  return { ...leaf(at, at + 1, 0), ...(severityOf(line) === 'failure' ? { isError: true } : {}) }
}

function leaf(start: number, end: number, head: number): TextBlock {
  return { start, end, head, tail: 0, blocks: [] }
}

const HEADING = /^ {0,3}#{1,6}(?:[ \t]|$)/

/** Headings with all that stands below them to the next one; not those within fences. */
function sections(lines: readonly string[]): readonly TextBlock[] {
  const found: { start: number; blocks: TextBlock[] }[] = []
  for (const span of markdownSpans(lines)) {
    const { start, end } = span
    if (span.kind === 'block' && HEADING.test(lines[start]!)) {
      const blocks = end - start > 1 ? [leaf(start + 1, end, 0)] : []
      found.push({ start, blocks })
      continue
    }
    const block = leaf(start, end, 0)
    found.at(-1)?.blocks.push(inSection(block, span))
  }
  return found.map(({ start, blocks }, index) => {
    const end = found[index + 1]?.start ?? lines.length
    return { start, end, head: 1, tail: 0, blocks }
  })
}

/** Fences keep their ends, tables their header; blockquotes stay. */
function inSection(block: TextBlock, span: Span): TextBlock {
  if (span.kind === 'block') return { ...block, head: span.head, tail: span.tail }
  return span.kind === 'quote' ? { ...block, required: true } : block
}

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
