/**
 * The line number before a line's text, as viewers and searches print it, found in UTF-8 bytes.
 *
 * | kind | looks like |
 * |---|---|
 * | `ARROW`, `TAB`, `COLON`, `DASH` | spaces, number, `→`, tab, `:` or `-` |
 * | `PATH_COLON`, `PATH_DASH` | path, `:` or `-`, number, the same again |
 */
import {
  MAX_DIGITS,
  MAX_PAD,
  type NumberLayout,
  printedWidth,
  printNumber,
  SEPARATORS,
} from './numbered-lines.ts'

export const NONE = 0
const ARROW = 1
const TAB = 2
const COLON = 3
export const DASH = 4
const PATH_COLON = 5
export const PATH_DASH = 6

export type GutterKind =
  | typeof NONE
  | typeof ARROW
  | typeof TAB
  | typeof COLON
  | typeof DASH
  | typeof PATH_COLON
  | typeof PATH_DASH

/** The separator of each kind. */
const SEPARATOR_OF = [
  '',
  SEPARATORS.arrow,
  SEPARATORS.tab,
  SEPARATORS.colon,
  SEPARATORS.dash,
  SEPARATORS.colon,
  SEPARATORS.dash,
] as const

/** Longer paths are not searched for a number. */
const MAX_PATH = 512

const BYTE_TAB = 0x09
const BYTE_SPACE = 0x20
const BYTE_DASH = 0x2d
const BYTE_0 = 0x30
const BYTE_9 = 0x39
const BYTE_COLON = 0x3a
const BYTE_ARROW = [0xe2, 0x86, 0x92] as const

/** A gutter, with positions in its bytes. One object is filled for many lines. */
export interface ByteGutter extends NumberLayout {
  kind: GutterKind
  number: number
  /** Start of the line. */
  start: number
  /** Start of the number and the spaces before it: after the path and its separator. */
  numberStart: number
  /** Bytes of spaces and digits. */
  width: number
  /** Whether there are spaces before the number. */
  padded: boolean
  /** Start of the text after the gutter. */
  textStart: number
}

export function createGutter(): ByteGutter {
  return { kind: NONE, number: 0, start: 0, numberStart: 0, width: 0, padded: false, textStart: 0 }
}

/** Reads the gutter of the line from `start` to `end` (without its line break) into `gutter`. */
export function readGutter(
  bytes: Uint8Array,
  start: number,
  end: number,
  gutter: ByteGutter,
): void {
  gutter.start = start
  const first = start < end ? bytes[start]! : 0
  if (first === BYTE_SPACE || isDigit(first)) readNumbered(bytes, start, end, gutter)
  else readPathed(bytes, start, end, gutter)
}

/**
 * A gutter of this kind and number in the layout of `model`. A gutter with a path starts with
 * `path`.
 */
export function writeGutter(
  model: ByteGutter,
  path: string,
  number: number,
  kind: GutterKind,
): string {
  const separator = SEPARATOR_OF[kind]
  if (isPathed(kind)) return path + separator + String(number) + separator
  return printNumber(model, number) + separator
}

/** Whether `gutter` has the width that `writeGutter` gives it in the layout of `model`. */
export function hasLayoutOf(gutter: ByteGutter, model: ByteGutter): boolean {
  return gutter.width === printedWidth(model, gutter.number)
}

/**
 * The kind of a gutter that continues one of `kind`; searches print `-` on lines beside a match.
 */
export function continuedKind(kind: GutterKind, dashes: boolean): GutterKind {
  if (!dashes) return kind
  if (kind === COLON) return DASH
  return kind === PATH_COLON ? PATH_DASH : isPathed(kind) || kind === DASH ? kind : NONE
}

/** Whether the kind is one with a path. */
export function isPathed(kind: GutterKind): boolean {
  return kind >= PATH_COLON
}

/** Whether both have the same path, or none. */
export function haveSamePath(
  bytes: Uint8Array,
  gutter: ByteGutter,
  otherBytes: Uint8Array,
  other: ByteGutter,
): boolean {
  const length = gutter.numberStart - gutter.start
  if (length !== other.numberStart - other.start) return false
  // The byte before the number is the separator, which follows from `kind`.
  for (let k = 0; k < length - 1; k++) {
    if (bytes[gutter.start + k] !== otherBytes[other.start + k]) return false
  }
  return true
}

function readNumbered(bytes: Uint8Array, start: number, end: number, gutter: ByteGutter): void {
  let at = start
  const lastPad = Math.min(end, start + MAX_PAD)
  while (at < lastPad && bytes[at] === BYTE_SPACE) at++
  const digitsStart = at
  at = readNumber(bytes, at, end, gutter)
  const kind = at === digitsStart ? NONE : separatorAt(bytes, at, end)
  if (kind === NONE) {
    setNone(gutter, start)
    return
  }
  gutter.kind = kind
  gutter.numberStart = start
  gutter.width = at - start
  gutter.padded = digitsStart > start
  gutter.textStart = at + (kind === ARROW ? BYTE_ARROW.length : 1)
}

function readPathed(bytes: Uint8Array, start: number, end: number, gutter: ByteGutter): void {
  const last = Math.min(end, start + MAX_PATH)
  for (let at = start + 1; at < last; at++) {
    const byte = bytes[at]!
    // Most lines of code end here, at their first space.
    if (byte <= BYTE_SPACE) break
    if (byte !== BYTE_COLON && byte !== BYTE_DASH) continue
    const next = readNumber(bytes, at + 1, end, gutter)
    if (next === at + 1 || next >= end || bytes[next] !== byte) continue
    gutter.kind = byte === BYTE_COLON ? PATH_COLON : PATH_DASH
    gutter.numberStart = at + 1
    gutter.width = next - at - 1
    gutter.padded = false
    gutter.textStart = next + 1
    return
  }
  setNone(gutter, start)
}

function setNone(gutter: ByteGutter, start: number): void {
  gutter.kind = NONE
  gutter.number = 0
  gutter.numberStart = start
  gutter.width = 0
  gutter.padded = false
  gutter.textStart = start
}

/**
 * The end of the number at `at`, or `at` if there is none that `String` would write the same way.
 */
function readNumber(bytes: Uint8Array, at: number, end: number, gutter: ByteGutter): number {
  let next = at
  let number = 0
  const last = Math.min(end, at + MAX_DIGITS)
  while (next < last && isDigit(bytes[next]!)) {
    number = number * 10 + (bytes[next]! - BYTE_0)
    next++
  }
  if (next - at > 1 && bytes[at] === BYTE_0) return at
  gutter.number = number
  return next
}

function separatorAt(bytes: Uint8Array, at: number, end: number): GutterKind {
  if (at >= end) return NONE
  const byte = bytes[at]!
  if (byte === BYTE_TAB) return TAB
  if (byte === BYTE_COLON) return COLON
  if (byte === BYTE_DASH) return DASH
  const [first, second, third] = BYTE_ARROW
  const isArrow =
    byte === first && at + 2 < end && bytes[at + 1] === second && bytes[at + 2] === third
  return isArrow ? ARROW : NONE
}

function isDigit(byte: number): boolean {
  return byte >= BYTE_0 && byte <= BYTE_9
}
