/**
 * Characters that a reader does not see as themselves, as ranges of UTF-16 code units: controls, zero-width and
 * bidirectional characters, fillers, variation selectors, separators of lines, and the first half of the tags (U+E0000
 * to U+E03FF). By name and not by Unicode property, so that every runtime agrees.
 */
const RANGES: readonly (readonly [first: number, last: number])[] = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0xdb40, 0xdb40],
]

/** The same as the inside of a regular expression's class. */
export const HIDDEN_CLASS: string = RANGES.map(([first, last]) => {
  return `${escapeUnit(first)}-${escapeUnit(last)}`
}).join('')

/** A code unit as JSON and regular expressions escape it. */
export function escapeUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}
