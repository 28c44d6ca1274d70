import type { Family } from './families/family.ts'
import { FAMILIES } from './families/registry.ts'
import type { Hint, Verbosity } from './hint.ts'

export const OPENING = '> ['
export const CLOSING = ']'
/** Longest line of a hint in UTF-16 code units; a longer one is neither written nor read. */
export const MAX_HINT_CHARS = 4096

/**
 * A hint as one line of Markdown, without the line break.
 * @throws RangeError if the facts are not of their kind, or the line would be longer than
 * `MAX_HINT_CHARS`
 */
export function renderHint(hint: Hint, verbosity: Verbosity): string {
  const line = hintLine(hint, verbosity)
  if (line === null) throw new RangeError(`this ${hint.family} hint cannot be written`)
  return line
}

/**
 * Like `renderHint`, but returns `null` if that throws. For facts that come in part from content,
 * such as a call's arguments.
 */
export function hintLine(hint: Hint, verbosity: Verbosity): string | null {
  const family = FAMILIES[hint.family] as Family<Hint>
  if (!family.valid(hint)) return null
  const line = OPENING + family.write(hint, verbosity) + CLOSING
  return line.length > MAX_HINT_CHARS ? null : line
}
