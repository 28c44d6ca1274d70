/** Longest line that can be a path, or begin with one. */
const MAX_LINE = 4_096

/** What follows a path in a line of a search: its line number. */
const LINE_NUMBER = /^:\d+(?::|$)/

/**
 * The paths of a text: one a line, or in front of `:12:` as searches print them. A line that is a
 * sentence is none. Linear: each line is read once, and of a long one only its first part.
 */
export function* pathsOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const newline = text.indexOf('\n', from)
    const end = newline === -1 ? text.length : newline
    const line = text.slice(from, Math.min(end, from + MAX_LINE)).trim()
    const path = beforeLineNumber(line) ?? line
    if (isPath(path)) yield path
    from = end + 1
  }
}

/** `src/a.ts` of `src/a.ts:12:text`; a drive's colon is part of the path. */
function beforeLineNumber(line: string): string | undefined {
  for (let at = line.indexOf(':', 2); at !== -1; at = line.indexOf(':', at + 1)) {
    if (LINE_NUMBER.test(line.slice(at, at + 12))) return line.slice(0, at)
  }
  return undefined
}

/** What paths do not have, but sentences, code and numbered lines do. */
const NO_PATH = /[\p{Cc}"<>|*?;{}=]|: |[:.]$|^\d+[:-]/u
/** A name without a folder has a suffix. */
const FILE_NAME = /^\S+\.[A-Za-z0-9]{1,10}$/
/** Words in a path with spaces; a line with more is a sentence. */
const MAX_WORDS = 4

/** Whether a line is a path: a folder in it or a suffix, and nothing that speaks against it. */
function isPath(text: string): boolean {
  if (text === '' || text.length >= MAX_LINE || NO_PATH.test(text)) return false
  const hasFolder = text.includes('/') || text.includes('\\')
  return hasFolder ? text.split(' ', MAX_WORDS + 1).length <= MAX_WORDS : FILE_NAME.test(text)
}
