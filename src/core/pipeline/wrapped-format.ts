import { notDecodable } from '../formats/not-decodable.ts'
import { PASSTHROUGH } from '../formats/passthrough.ts'
import { formatLabel } from '../formats/text/text-format.ts'
import type { LookAlikes } from '../hints/look-alikes.ts'
import { LINES_FORMAT } from '../sessions/turn/decode-references.ts'
import { readStringLines } from '../sessions/turn/string-lines.ts'
import type { Notes } from './notes.ts'

/** Precedes the format of a text that parts were left out of: it represents less than the input. */
export const TRIMMED_LABEL = 'trimmed@1'
const TRIMMED = `${TRIMMED_LABEL};`
/** In front of the format of a text with lines of hints before and after it, and how many. */
const NOTED = /^noted@1,(\d),(\d);/

/**
 * Precedes the format of a text in which look-alikes of hints are escaped; the suffix names their
 * kinds.
 */
export const ESCAPED_LABEL = 'escaped@1'
const ESCAPED = /^escaped@1(,hints)?;/

/** The answer's `format` for a text in `format` whose look-alikes are escaped. */
export function escapedFormat(format: string, kinds: LookAlikes): string {
  return `${ESCAPED_LABEL}${kinds === 'hints' ? ',hints' : ''};${format}`
}

/**
 * The format of the text before its look-alikes were escaped, and of which kinds; none if they were
 * not.
 */
export function withoutEscapes(format: string): { format: string; kinds?: LookAlikes } {
  const [prefix, hints] = ESCAPED.exec(format) ?? []
  if (prefix === undefined) return { format }
  return { format: format.slice(prefix.length), kinds: hints === undefined ? 'all' : 'hints' }
}

/** The answer's `format` for a text in `format` that lacks parts. */
export function trimmedFormat(format: string): string {
  return TRIMMED + format
}

export function isTrimmed(format: string): boolean {
  return format.startsWith(TRIMMED)
}

/** The format of a text that may lack parts. */
export function withoutTrim(format: string): string {
  return isTrimmed(format) ? format.slice(TRIMMED.length) : format
}

/** Between the format of a text with references to lines and that of the new lines. */
const INNER = ';'

/** The answer's `format` for a text in `outer` whose lines are written in `inner`. */
export function linesFormat(outer: string, inner: string): string {
  return inner === PASSTHROUGH ? outer : outer + INNER + inner
}

/**
 * The format of a text with references to lines, and that in which its new lines are written;
 * `undefined` if it has none.
 */
export function linesWithin(
  format: string,
): { readonly outer: string; readonly inner: string } | undefined {
  const inStrings = readStringLines(format)
  if (inStrings !== null) return { inner: PASSTHROUGH, ...inStrings }
  const inner = innerFormat(format, LINES_FORMAT)
  return inner === undefined ? undefined : { outer: LINES_FORMAT, inner }
}

/** The format that a text was written in before `outer`; `undefined` if it was not. */
function innerFormat(format: string, outer: string): string | undefined {
  if (format === outer) return PASSTHROUGH
  return format.startsWith(outer + INNER) ? format.slice(outer.length + INNER.length) : undefined
}

/**
 * Name and version of the format that the text is in: one of a fixed set, fit for a metric's label.
 */
export function bareFormat(format: string): string {
  const bare = isTrimmed(format) ? withoutTrim(format) : format.replace(NOTED, '')
  return formatLabel(withoutEscapes(bare).format)
}

/** The name of that format, without its version. */
export function labelOf(format: string): string {
  return bareFormat(format).split('@')[0] as string
}

/** The answer's `format` for a text in `format` that `annotate` wrote with notes. */
export function notedFormat(format: string, { before, after }: Notes): string {
  if (before.length + after.length === 0) return format
  return `noted@1,${before.length},${after.length};${format}`
}

/**
 * The text without its notes, and its own format.
 * @throws AppError `not_decodable` if the notes are not there
 */
export function withoutNotes(content: string, format: string): { content: string; format: string } {
  const [prefix, before, after] = NOTED.exec(format) ?? []
  if (prefix === undefined) return { content, format }
  let start = 0
  for (let i = 0; i < Number(before); i++) start = content.indexOf('\n', start) + 1 || Infinity
  let end = content.length
  for (let i = 0; i < Number(after); i++) end = content.lastIndexOf('\n', end - 1)
  if (start > end) throw notDecodable(content, 0, 'lines of hints expected around the content')
  return { content: content.slice(start, end), format: format.slice(prefix.length) }
}
