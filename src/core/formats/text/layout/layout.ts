/**
 * How a program laid out its JSON: the gaps between tokens, and which containers stand on one line.
 * Arrays and objects have up to four styles each. A rule predicts the style of each container;
 * those with another one are named.
 */
export interface Layout {
  /** The indentation of one level. */
  readonly unit: string
  readonly lineEnd: string
  readonly arrays: KindLayout
  readonly objects: KindLayout
  /** Whether a container has the style of the one before it with the same key. */
  readonly byKey: boolean
  /** By the number of a container, counted as they begin, empty ones aside: its style. */
  readonly exceptions: ReadonlyMap<number, number>
  /** By the number of a line break: the empty lines that come before the next line. */
  readonly emptyLines: ReadonlyMap<number, number>
  /** The name of the escapes in strings. */
  readonly escapes: string
}

/** How arrays, or objects, are laid out. */
export interface KindLayout {
  /** Between the brackets of an empty one. */
  readonly empty: Gap
  /** The first one for containers that do not fit into `width`, the second for those that do. */
  readonly styles: readonly Style[]
  /** Columns of a line; 0 if none fits, infinite if each fits. */
  readonly width: number
}

/** White space between two tokens; line breaks are followed by the indentation. */
export type Gap = number
export const NO_GAP = 0
export const BLANK = 1
export const LINE_BREAK = 2
/** As in Python before 3.4, after the comma. */
export const BLANK_AND_BREAK = BLANK | LINE_BREAK

/**
 * The gaps of a container that is not empty, two bits each: after the opening bracket, after a
 * comma, before the closing bracket, and blanks around a colon.
 */
export type Style = number
const COMMA_SHIFT = 2
const CLOSE_SHIFT = 4
const COLON_SHIFT = 6
const GAP_BITS = 3
/** A blank after and before a colon. */
export const COLON_BLANK = 1
export const BLANK_COLON = 2

/** Line breaks after the opening bracket, after a comma, or before the closing bracket. */
const BREAKS = LINE_BREAK | (LINE_BREAK << COMMA_SHIFT) | (LINE_BREAK << CLOSE_SHIFT)

export function styleOf(open: Gap, comma: Gap, close: Gap, colon: number): Style {
  return open | (comma << COMMA_SHIFT) | (close << CLOSE_SHIFT) | (colon << COLON_SHIFT)
}

export function gapsOf(style: Style): { open: Gap; comma: Gap; close: Gap; colon: number } {
  return {
    open: style & GAP_BITS,
    comma: (style >> COMMA_SHIFT) & GAP_BITS,
    close: (style >> CLOSE_SHIFT) & GAP_BITS,
    colon: (style >> COLON_SHIFT) & GAP_BITS,
  }
}

/** Whether a container in this style takes several lines. */
export function breaksLines(style: Style): boolean {
  return (style & BREAKS) !== 0
}

/** Characters of a container's gaps, if it is on one line. */
export function gapChars(style: Style, members: number): number {
  const { open, comma, close, colon } = gapsOf(style)
  const aroundColon = (colon & COLON_BLANK) + ((colon & BLANK_COLON) >> 1)
  return open + close + comma * (members - 1) + aroundColon * members
}
