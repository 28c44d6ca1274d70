import { OPEN_BRACE, OPEN_BRACKET } from '../json/char-codes.ts'
import { parseJson } from '../json/parse-json.ts'
import { ObjectValue, type Value } from '../json/value.ts'

/** Shorter ones, such as `[1, 2]`, also occur in prose and source. */
const MIN_CHARS = 16
/** Members of an object, items of an array. */
const MIN_MEMBERS = 1
const MIN_ITEMS = 2
/** Deep enough to see what it is. */
const MAX_DEPTH = 250

/**
 * Whether there is an object or array somewhere in the text. If one turns out to be none, the
 * search goes on after the place at which that showed, so the work is linear.
 */
export function hasInlineJson(text: string): boolean {
  for (let at = nextOpener(text, 0); at !== -1; ) {
    const parsed = parseJson(text, { start: at, prefix: true, maxDepth: MAX_DEPTH })
    if (parsed.ok && parsed.end - at >= MIN_CHARS && hasMembers(parsed.value)) return true
    at = nextOpener(text, Math.max(at + 1, parsed.ok ? parsed.end : parsed.offset))
  }
  return false
}

function hasMembers(value: Value): boolean {
  if (value instanceof ObjectValue) return value.keys.length >= MIN_MEMBERS
  return Array.isArray(value) && value.length >= MIN_ITEMS
}

/** The next bracket or brace with something after it that JSON may begin with. */
function nextOpener(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const c = text.charCodeAt(at)
    if (c === OPEN_BRACE || c === OPEN_BRACKET) return at
  }
  return -1
}
