import { findLookAlikes, type LookAlikes } from './look-alikes.ts'

/**
 * Precedes a look-alike of a hint. If the look-alike follows such characters, there is one more.
 */
const ESCAPE = '\\'

/** A text whose look-alikes are escaped, and how many there are; 0: nothing was changed. */
export interface Escaped {
  readonly content: string
  readonly count: number
}

/**
 * Puts a backslash before everything in a text that a reader could take for a hint of ours. A text
 * without a bare look-alike stays as it is.
 * @param isOwn whether the look-alike at an index is a hint of ours
 */
export function escapeLookAlikes(
  text: string,
  kinds: LookAlikes = 'all',
  isOwn: (at: number) => boolean = () => false,
): Escaped {
  const places = findLookAlikes(text, kinds).filter(at => !isOwn(at))
  return escapeAt(text, places, (from, end) => ESCAPE + text.slice(from, end))
}

/** The text that `escapeLookAlikes` changed. */
export function unescapeLookAlikes(text: string, kinds: LookAlikes): string {
  const places = findLookAlikes(text, kinds).filter(at => text[at - 1] === ESCAPE)
  let from = 0
  let out = ''
  for (const at of places) {
    out += text.slice(from, at - 1)
    from = at
  }
  return out + text.slice(from)
}

/**
 * A kept line of a text whose gaps have marks. Everything in it that a reader could mistake for a
 * mark is escaped.
 */
export function escapeMarks(line: string): string {
  const places = findLookAlikes(line)
  if (places.length === 0) return line
  const hints = new Set(findLookAlikes(line, 'hints'))
  const marks = places.filter(at => !hints.has(at))
  return escapeAt(line, marks, (from, end) => ESCAPE + line.slice(from, end)).content
}

/**
 * The same for JSON: the first character of each look-alike, which is always in a string, is
 * spelled as an escape of JSON. The value stays.
 */
export function escapeInJson(json: string, kinds: LookAlikes = 'all'): Escaped {
  return escapeAt(json, findLookAlikes(json, kinds), (from, end) => {
    const code = json.charCodeAt(from).toString(16).padStart(4, '0')
    return `\\u${code}${json.slice(from + 1, end)}`
  })
}

/** @param write returns the replacement of a look-alike and the text up to the next one */
function escapeAt(
  text: string,
  places: readonly number[],
  write: (from: number, end: number) => string,
): Escaped {
  if (places.every(at => text[at - 1] === ESCAPE)) return { content: text, count: 0 }
  const parts = places.map((at, index) => write(at, places[index + 1] ?? text.length))
  return { content: text.slice(0, places[0]) + parts.join(''), count: places.length }
}
