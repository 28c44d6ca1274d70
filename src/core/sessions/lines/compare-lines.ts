import {
  type ByteGutter,
  continuedKind,
  createGutter,
  DASH,
  type GutterKind,
  hasLayoutOf,
  haveSamePath,
  NONE,
  PATH_DASH,
  readGutter,
} from '../../formats/gutter/byte-gutter.ts'
import { isCoveredIn, isSignedIn, startIn } from './body-image.ts'
import type { KeptBody } from './body-memory.ts'
import type { MemoryParts } from './memory-layout.ts'
import type { ScannedText } from './scan-text.ts'
import { changesSign, endOfSigns, type SignRun, signsOf } from './sign-runs.ts'

/**
 * How the earlier lines' gutters change: `kept`, with a shift added to their numbers;
 * `continued`, replaced by the gutter of the line before the run, counted on, with the same
 * separator or with `-`, so that a line that had a number keeps it; `dropped`. `unsigned`: the
 * earlier lines are a diff's, and lose its signs. `signed`: the new lines are a diff's, and have
 * its signs in place of whatever was before the earlier ones.
 */
export type RunGutter =
  | { readonly kind: 'kept'; readonly shift: number }
  | { readonly kind: 'continued'; readonly dashes: boolean; readonly unsigned?: true }
  | { readonly kind: 'dropped'; readonly unsigned?: true }
  | { readonly kind: 'signed'; readonly signs: readonly SignRun[] }

/** Compares lines of a new text with lines of an earlier body, once `align` has related the two. */
export interface LineComparer {
  /**
   * Relates line `line` to line `theirs` of `body`. Returns whether one may represent the other.
   */
  align(line: number, body: KeptBody, theirs: number): boolean
  /** Whether `line` equals `theirs` after the relation is applied. */
  equal(line: number, theirs: number): boolean
  /** Whether the signs of a diff change with this line, if the relation has signs. */
  changesSign(line: number): boolean
  /** The relation as a hint writes it for the lines `from` to before `end`. */
  relation(from: number, end: number): RunGutter
  /**
   * The part of a run from `from` to before `end` that a decoder can restore under the relation;
   * may be empty.
   */
  decodable(from: number, end: number): readonly [from: number, end: number]
}

export function createLineComparer(text: ScannedText, memory: MemoryParts): LineComparer {
  const mine = createGutter()
  const other = createGutter()
  const before = createGutter()
  const sameBytes = byteComparer(text.bytes, memory.bytes)
  let body: KeptBody
  let kind: RunGutter['kind'] = 'kept'
  let shift = 0
  /** Whether the earlier lines must have signs, which go. */
  let unsigned = false
  /** A continued gutter: its kind, and the number of line 0 if it were counted back so far. */
  let [ownKind, base]: [GutterKind, number] = [NONE, 0]

  const readMine = (line: number, gutter: ByteGutter) =>
    readGutter(text.bytes, text.starts[line]!, text.starts[line + 1]! - 1, gutter)

  const theirWord = (line: number) => memory.words[body.startsAt + line]!
  const theirStart = (line: number) => body.textAt + startIn(theirWord(line))
  const isSigned = (line: number) => text.signed !== null && text.signed[line] === 1

  function align(line: number, earlier: KeptBody, theirs: number): boolean {
    body = earlier
    unsigned = false
    kind = 'kept'
    shift = 0
    if (equal(line, theirs)) return true
    if (isSigned(line)) {
      kind = 'signed'
      return equal(line, theirs)
    }
    unsigned = isSignedIn(theirWord(theirs))
    readMine(line, mine)
    readGutter(memory.bytes, theirStart(theirs), theirStart(theirs + 1) - 1, other)
    if (
      !unsigned &&
      mine.kind === other.kind &&
      haveSamePath(text.bytes, mine, memory.bytes, other)
    ) {
      kind = 'kept'
      shift = mine.number - other.number
    } else if (mine.kind === NONE) kind = 'dropped'
    else {
      kind = 'continued'
      ownKind = mine.kind
      base = mine.number - line
    }
    return equal(line, theirs)
  }

  function equal(line: number, theirs: number): boolean {
    const start = text.starts[line]!
    const end = text.starts[line + 1]! - 1
    const from = theirStart(theirs)
    const to = theirStart(theirs + 1) - 1
    const word = theirWord(theirs)
    // A reader would find a reference there.
    if (isCoveredIn(word)) return false
    if (kind === 'kept' && shift === 0) return sameBytes(start, end, from, to)
    const areSigned = isSignedIn(word)
    if (unsigned && !areSigned) return false
    readGutter(memory.bytes, from, to, other)
    if (kind === 'signed') {
      const theirText = areSigned ? from + 1 : other.textStart
      return isSigned(line) && sameBytes(start + 1, end, theirText, to)
    }
    readGutter(text.bytes, start, end, mine)
    const theirText = unsigned ? from + 1 : other.textStart
    return gutterFits(line) && sameBytes(mine.textStart, end, theirText, to)
  }

  function gutterFits(line: number): boolean {
    if (kind === 'dropped') return mine.kind === NONE
    if (kind === 'continued') {
      const isPrinted = unsigned || other.kind === NONE || other.number === mine.number
      return mine.kind === ownKind && mine.number === base + line && isPrinted
    }
    return (
      mine.kind === other.kind &&
      (mine.kind === NONE ||
        (isMoved(mine, other, shift) && haveSamePath(text.bytes, mine, memory.bytes, other)))
    )
  }

  function decodable(from: number, end: number): readonly [number, number] {
    if (kind === 'signed') return [from, endOfSigns(text, from, end)]
    if (kind !== 'continued') return [from, end]
    const dashes = ownKind === DASH || ownKind === PATH_DASH
    const earliest = Math.max(from, 1)
    // If the line before the first has no gutter to continue, the first line's own gutter is used
    // for the next.
    for (let first = earliest; first <= earliest + 1 && first < end; first++) {
      readMine(first - 1, before)
      const leads =
        continuedKind(before.kind, dashes) === ownKind && before.number === base + first - 1
      if (leads) return [first, endOfLayout(text, first, end, before)]
    }
    return [end, end]
  }

  function relation(from: number, end: number): RunGutter {
    if (kind === 'kept') return { kind, shift }
    if (kind === 'signed') return { kind, signs: signsOf(text, from, end) }
    const signs = unsigned ? ({ unsigned } as const) : {}
    if (kind === 'dropped') return { kind, ...signs }
    readMine(from - 1, before)
    return { kind, dashes: before.kind !== ownKind, ...signs }
  }

  const isNewSign = (line: number) => kind === 'signed' && changesSign(text, line)
  return { align, equal, changesSign: isNewSign, relation, decodable }
}

/** The line from `first` on whose gutter does not continue another one of the text, or `end`. */
function endOfLayout(
  { bytes, starts }: ScannedText,
  first: number,
  end: number,
  model: ByteGutter,
): number {
  const gutter = createGutter()
  for (let line = first; line < end; line++) {
    readGutter(bytes, starts[line]!, starts[line + 1]! - 1, gutter)
    if (!haveSameLayout(bytes, gutter, model)) return line
  }
  return end
}

/** Whether a gutter of the same text continues another one in its path and width. */
function haveSameLayout(bytes: Uint8Array, gutter: ByteGutter, model: ByteGutter): boolean {
  return hasLayoutOf(gutter, model) && haveSamePath(bytes, gutter, bytes, model)
}

/** Whether a gutter is another one with `shift` added to its number. */
function isMoved(gutter: ByteGutter, other: ByteGutter, shift: number): boolean {
  return gutter.number === other.number + shift && hasLayoutOf(gutter, other)
}

/** Compares bytes `start` to before `end` of one array with `from` to before `to` of another. */
function byteComparer(bytes: Uint8Array, theirs: Uint8Array) {
  return (start: number, end: number, from: number, to: number): boolean => {
    if (end - start !== to - from) return false
    const offset = from - start
    for (let at = start; at < end; at++) if (bytes[at] !== theirs[at + offset]) return false
    return true
  }
}
