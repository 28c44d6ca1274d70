import { elision } from './families/elision.ts'
import type { Family } from './families/family.ts'
import { format, metadata, overflow, searchChain } from './families/notes.ts'
import { lines, nearReference, reference } from './families/references.ts'
import { type Hint, type HintFamily, VERBOSITIES, type Verbosity } from './hint.ts'
import { HintReader } from './reader.ts'

/** Every family of hints. Their first words differ, so a line belongs to at most one of them. */
const FAMILIES: {
  readonly [F in HintFamily]: Family<Extract<Hint, { family: F }>>
} = {
  reference,
  near_reference: nearReference,
  lines,
  overflow,
  format,
  metadata,
  elision,
  search_chain: searchChain,
}

export const OPENING = '> ['
const CLOSING = ']'
/** Longest line of a hint in UTF-16 code units; a longer one is neither written nor read. */
export const MAX_HINT_CHARS = 4096

/**
 * A hint as one line of Markdown, without the line break. Returns `null` if the facts are not of
 * their kind, or the line would be longer than `MAX_HINT_CHARS`: some of them come from content,
 * such as a call's arguments.
 */
export function hintLine(hint: Hint, verbosity: Verbosity): string | null {
  const family = FAMILIES[hint.family] as Family<Hint>
  if (!family.valid(hint)) return null
  const line = OPENING + family.write(hint, verbosity) + CLOSING
  return line.length > MAX_HINT_CHARS ? null : line
}

/**
 * The hint that a line is, or `null`. Exact: the line must be what `hintLine` writes for these
 * facts in one of the verbosities, so nothing may be added, left out or spelled differently.
 * Constant time, whatever the line's length.
 */
export function parseHint(line: string): Hint | null {
  if (line.length > MAX_HINT_CHARS || !line.startsWith(OPENING) || !line.endsWith(CLOSING)) {
    return null
  }
  const inside = line.slice(OPENING.length, -CLOSING.length)
  for (const family of Object.values(FAMILIES) as readonly Family<Hint>[]) {
    const reader = new HintReader(inside)
    const hint = family.read(reader)
    if (hint !== null && reader.atEnd && VERBOSITIES.some(v => hintLine(hint, v) === line)) {
      return hint
    }
  }
  return null
}
