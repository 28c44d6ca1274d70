import type { Family } from './families/family.ts'
import { FAMILIES } from './families/registry.ts'
import { type Hint, VERBOSITIES } from './hint.ts'
import { Reader } from './reader.ts'
import { CLOSING, hintLine, MAX_HINT_CHARS, OPENING } from './render-hint.ts'

/**
 * The hint that a line is, or `null`. Exact: the line must be what `renderHint` writes for these
 * facts in one of the verbosities, so nothing may be added, left out or spelled differently.
 * Constant time, whatever the line's length.
 */
export function parseHint(line: string): Hint | null {
  if (line.length > MAX_HINT_CHARS || !line.startsWith(OPENING) || !line.endsWith(CLOSING)) {
    return null
  }
  const inside = line.slice(OPENING.length, -CLOSING.length)
  for (const family of Object.values(FAMILIES) as readonly Family<Hint>[]) {
    const reader = new Reader(inside)
    const hint = family.read(reader)
    if (hint !== null && reader.atEnd && VERBOSITIES.some(v => hintLine(hint, v) === line)) {
      return hint
    }
  }
  return null
}
