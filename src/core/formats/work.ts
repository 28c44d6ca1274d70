import { OPEN_BRACE, OPEN_BRACKET } from '../json/char-codes.ts'
import { ObjectValue, type Value } from '../json/value.ts'

/** The figures of a content that the work on it grows with. */
export interface Extent {
  /** UTF-16 code units. */
  readonly chars: number
  /** Objects and arrays, and those that may be in strings that look like JSON. */
  readonly containers: number
  /** Members of objects and items of arrays. */
  readonly members: number
}

/**
 * Steps that a content may be worked on. They are counted, never timed: the same content gets the
 * same answer on any machine, however busy.
 */
export interface WorkBudget {
  /** Takes the steps, if so many are left. */
  take(steps: number): boolean
}

/**
 * Most steps for each character of a content. A step is about a nanosecond of an idle processor of
 * 2025.
 */
const STEPS_PER_CHAR = 250
/** Steps that even short contents may take: some milliseconds. */
const LEAST_STEPS = 4_000_000

/**
 * The budget for the candidates of one layer: proportional to the content, so that no content is
 * slow for its size.
 */
export function createWorkBudget(chars: number): WorkBudget {
  let left = Math.max(LEAST_STEPS, chars * STEPS_PER_CHAR)
  return {
    take(steps) {
      if (steps > left) return false
      left -= steps
      return true
    },
  }
}

/** The extent of a value that was read from so many characters. Linear, and without recursion. */
export function extentOf(value: Value, chars: number): Extent {
  let containers = 0
  let members = 0
  const open: (readonly Value[])[] = [[value]]
  for (let level = open.pop(); level !== undefined; level = open.pop()) {
    members += level.length
    for (const member of level) {
      if (typeof member === 'string') containers += bracketsIn(member)
      else if (member instanceof ObjectValue || Array.isArray(member)) {
        containers++
        const inner = member instanceof ObjectValue ? member.values : member
        if (inner.length > 0) open.push(inner)
      }
    }
  }
  return { chars, containers, members }
}

/** Finding out how the JSON in a string was written takes as long as so many containers. */
const SPACING_CONTAINERS = 2

/** The containers that a string that begins like JSON may have, and the work to find out. */
function bracketsIn(text: string): number {
  if (!isOpener(text.charCodeAt(0))) return 0
  let brackets = SPACING_CONTAINERS
  for (let at = 0; at < text.length; at++) if (isOpener(text.charCodeAt(at))) brackets++
  return brackets
}

function isOpener(c: number): boolean {
  return c === OPEN_BRACE || c === OPEN_BRACKET
}

/** Steps to read an opening bracket, if JSON is in a text. */
const BRACKET_STEPS = 600

/** Steps to read the JSON in a text. */
export function bracketSteps(text: string): number {
  return (countOf(text, '{') + countOf(text, '[')) * BRACKET_STEPS
}

/** How often a character stands in a text. */
export function countOf(text: string, char: string): number {
  return countUpTo(text, char, Number.POSITIVE_INFINITY)
}

/** The same, but no more than `most`: after these the text is not looked at. */
export function countUpTo(text: string, char: string, most: number): number {
  let count = 0
  for (let at = -1; count < most; count++) {
    at = text.indexOf(char, at + 1)
    if (at === -1) break
  }
  return count
}

/** The lines of a text, an empty one after its last line feed too. */
export function countLines(text: string): number {
  return countOf(text, '\n') + 1
}
