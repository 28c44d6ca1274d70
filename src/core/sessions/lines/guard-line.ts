import { looksLikeHint } from '../../hints/looks-like-hint.ts'

/** Comes before a line of content that a reader could take for a reference. */
const GUARD = '\\'
const BACKSLASH = 0x5c
const BRACKET = 0x5b
/** Characters of a line that are looked at. */
const SEEN_CHARS = 256

/** A line of content as it stands in an answer. */
export function guardLine(line: string): string {
  return isGuarded(line, countGuards(line)) ? GUARD + line : line
}

/** Whether a line of an answer cannot be content: it is a reference, or an invalid one. */
export function isReferenceLike(line: string): boolean {
  return isGuarded(line, 0)
}

/** The line of content that `guardLine` made `line` of. */
export function unguardLine(line: string): string {
  const guards = countGuards(line)
  return guards > 0 && isGuarded(line, guards) ? line.slice(1) : line
}

function countGuards(line: string): number {
  let guards = 0
  while (line.charCodeAt(guards) === BACKSLASH) guards++
  return guards
}

/** Whether the text after the first `skip` characters looks like a hint. */
function isGuarded(line: string, skip: number): boolean {
  const end = Math.min(line.length, skip + SEEN_CHARS)
  let at = skip
  while (at < end && isLeading(line.charCodeAt(at))) at++
  if (at === end) return false
  // A bracket, or a character beyond ASCII that may be one to a reader.
  const code = line.charCodeAt(at)
  return (code === BRACKET || code >= 0x80) && looksLikeHint(line.slice(skip, end))
}

/** White space and controls, and the marks of quotes and lists. */
function isLeading(code: number): boolean {
  return code <= 0x20 || code === 0x3e || code === 0x2a || code === 0x2b || code === 0x2d
}
