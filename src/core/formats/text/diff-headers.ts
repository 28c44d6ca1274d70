/** The header of one file in a diff of git, up to its first hunk; for whole files, with it. */
export type FileHeader =
  | {
      readonly kind: 'changed'
      readonly path: string
      readonly blobs: string
      readonly mode: string
    }
  | {
      readonly kind: 'new' | 'deleted'
      readonly path: string
      /** The only version that there is. */
      readonly blob: string
      readonly mode: string
      readonly lines: number
    }
  | {
      readonly kind: 'renamed'
      readonly path: string
      readonly newPath: string
      readonly similarity: string
      /** `null` if no line changed. */
      readonly change: { readonly blobs: string; readonly mode: string } | null
    }

/** How a header is written: each line of git's has its line, so that lines can be counted. */
interface Spelling {
  first(path: string, newPath: string): string
  blobs(blobs: string, mode: string): string
  names(before: string | null, after: string | null): readonly string[]
  whole(kind: 'new' | 'deleted', mode: string): string
  blob(kind: 'new' | 'deleted', blob: string): string
  range(kind: 'new' | 'deleted', lines: number): string
  renamed(path: string, newPath: string): readonly string[]
}

/** Between the two paths of a renamed file. */
const ARROW = ' => '
/** Left out in our spelling: the mode of nearly all files. */
const USUAL_MODE = '100644'

const GIT: Spelling = {
  first: (path, newPath) => `diff --git a/${path} b/${newPath}`,
  blobs: (blobs, mode) => `index ${blobs} ${mode}`,
  names: (before, after) => [`--- ${named('a', before)}`, `+++ ${named('b', after)}`],
  whole: (kind, mode) => `${kind} file mode ${mode}`,
  blob: (kind, blob) => {
    const none = '0'.repeat(blob.length)
    return kind === 'new' ? `index ${none}..${blob}` : `index ${blob}..${none}`
  },
  range: (kind, lines) => {
    const range = lines === 1 ? '1' : `1,${lines}`
    return kind === 'new' ? `@@ -0,0 +${range} @@` : `@@ -${range} +0,0 @@`
  },
  renamed: (path, newPath) => [`rename from ${path}`, `rename to ${newPath}`],
}

const OURS: Spelling = {
  first: (path, newPath) => `diff ${path === newPath ? path : path + ARROW + newPath}`,
  blobs: (blobs, mode) => blobs + (mode === USUAL_MODE ? '' : ` ${mode}`),
  names: () => ['---', '+++'],
  whole: (kind, mode) => `${kind} file${mode === USUAL_MODE ? '' : ` ${mode}`}`,
  blob: (_, blob) => blob,
  range: (kind, lines) => `@@ ${kind === 'new' ? '+' : '-'}${lines} @@`,
  renamed: () => ['rename from', 'rename to'],
}

/** Git ends a name with spaces by a tab. */
function named(side: string, path: string | null): string {
  if (path === null) return '/dev/null'
  return `${side}/${path}${path.includes(' ') ? '\t' : ''}`
}

function spell(header: FileHeader, as: Spelling): readonly string[] {
  const { path } = header
  if (header.kind === 'changed') {
    return [as.first(path, path), as.blobs(header.blobs, header.mode), ...as.names(path, path)]
  }
  if (header.kind === 'renamed') {
    const { newPath, similarity, change } = header
    const moved = [`similarity index ${similarity}%`, ...as.renamed(path, newPath)]
    const changed =
      change === null ? [] : [as.blobs(change.blobs, change.mode), ...as.names(path, newPath)]
    return [as.first(path, newPath), ...moved, ...changed]
  }
  const { kind, mode, blob, lines } = header
  const names = kind === 'new' ? as.names(null, path) : as.names(path, null)
  const state = [as.whole(kind, mode), as.blob(kind, blob)]
  return [as.first(path, path), ...state, ...names, as.range(kind, lines)]
}

/** The lines of git that a header represents. */
export function gitHeader(header: FileHeader): readonly string[] {
  return spell(header, GIT)
}

/** As many lines, without what they have in common. */
export function shortHeader(header: FileHeader): readonly string[] {
  return spell(header, OURS)
}

/** Whether a decoder would take the line for the first of a short header. */
export function startsShortHeader(line: string): boolean {
  return line.startsWith('diff ') && !line.startsWith('diff -')
}

const BLOB = '[0-9a-f]{4,64}'
const BLOBS = `${BLOB}\\.\\.${BLOB}`

/** What the lines of a header hold, in one of its spellings. */
interface Patterns {
  readonly changed: RegExp
  readonly whole: RegExp
  readonly blob: RegExp
  readonly range: RegExp
}

const GIT_PATTERNS: Patterns = {
  changed: new RegExp(`^index (${BLOBS}) (\\d{6})$`),
  whole: /^(new|deleted) file mode (\d{6})$/,
  blob: new RegExp(`^index (?:0+\\.\\.(?!0+$)(${BLOB})|(${BLOB})\\.\\.0+)$`),
  range: /^@@ -(?:0,0 \+1(?:,(\d{1,9}))?|1(?:,(\d{1,9}))? \+0,0) @@$/,
}

const OUR_PATTERNS: Patterns = {
  changed: new RegExp(`^(${BLOBS})(?: (\\d{6}))?$`),
  whole: /^(new|deleted) file(?: (\d{6}))?$/,
  blob: new RegExp(`^(${BLOB})$`),
  range: /^@@ [+-](\d{1,9}) @@$/,
}

/**
 * Reads the header of a file as git writes it, if its short form gives it back.
 * @returns `null` if there is none
 */
export function readGitHeader(lines: readonly string[], start: number): FileHeader | null {
  const first = lines[start] ?? ''
  if (!first.startsWith('diff --git a/')) return null
  const header = readHeader(lines, start, GIT_PATTERNS, () => {
    const rest = first.slice('diff --git a/'.length)
    const length = (rest.length - ' b/'.length) / 2
    const [from = '', to = ''] = [lines[start + 2] ?? '', lines[start + 3] ?? '']
    return isRename(lines, start)
      ? [from.slice('rename from '.length), to.slice('rename to '.length)]
      : [rest.slice(0, length), rest.slice(0, length)]
  })
  if (header === null || !isAt(lines, start, gitHeader(header))) return null
  const again = readShortHeader(shortHeader(header), 0)
  return again !== null && isAt(gitHeader(header), 0, gitHeader(again)) ? header : null
}

/** Reads a short header; `null` if there is none. */
export function readShortHeader(lines: readonly string[], start: number): FileHeader | null {
  const first = lines[start] ?? ''
  if (!startsShortHeader(first)) return null
  const header = readHeader(lines, start, OUR_PATTERNS, () => {
    const path = first.slice('diff '.length)
    const arrow = path.indexOf(ARROW)
    if (!isRename(lines, start) || arrow === -1) return [path, path]
    return [path.slice(0, arrow), path.slice(arrow + ARROW.length)]
  })
  return header !== null && isAt(lines, start, shortHeader(header)) ? header : null
}

function isRename(lines: readonly string[], start: number): boolean {
  return lines[start + 1]?.startsWith('similarity index ') === true
}

function readHeader(
  lines: readonly string[],
  start: number,
  patterns: Patterns,
  paths: () => readonly [string, string],
): FileHeader | null {
  const line = (offset: number) => lines[start + offset] ?? ''
  const [path, newPath] = paths()
  const similarity = /^similarity index (\d{1,3})%$/.exec(line(1))?.[1]
  if (similarity !== undefined) {
    const [, blobs, mode = USUAL_MODE] = patterns.changed.exec(line(4)) ?? []
    const change = blobs === undefined ? null : { blobs, mode }
    return { kind: 'renamed', path, newPath, similarity, change }
  }
  const [, blobs, mode = USUAL_MODE] = patterns.changed.exec(line(1)) ?? []
  if (blobs !== undefined) return { kind: 'changed', path, blobs, mode }
  const [, word, wholeMode = USUAL_MODE] = patterns.whole.exec(line(1)) ?? []
  const blob = patterns.blob.exec(line(2))
  const range = patterns.range.exec(line(5))
  if (word === undefined || blob === null || range === null) return null
  return {
    kind: word === 'new' ? 'new' : 'deleted',
    path,
    blob: blob[1] ?? blob[2] ?? '',
    mode: wholeMode,
    lines: Number(range[1] ?? range[2] ?? '1'),
  }
}

function isAt(lines: readonly string[], start: number, expected: readonly string[]): boolean {
  return expected.every((line, i) => lines[start + i] === line)
}
