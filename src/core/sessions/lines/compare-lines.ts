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
export class LineComparer {
  readonly #text: ScannedText
  readonly #memory: MemoryParts
  readonly #sameBytes: ReturnType<typeof byteComparer>
  readonly #mine = createGutter()
  readonly #other = createGutter()
  readonly #before = createGutter()
  #body!: KeptBody
  #kind: RunGutter['kind'] = 'kept'
  #shift = 0
  /** Whether the earlier lines must have signs, which go. */
  #unsigned = false
  /** A continued gutter: its kind, and the number of line 0 if it were counted back so far. */
  #ownKind: GutterKind = NONE
  #base = 0

  constructor(text: ScannedText, memory: MemoryParts) {
    this.#text = text
    this.#memory = memory
    this.#sameBytes = byteComparer(text.bytes, memory.bytes)
  }

  /**
   * Relates line `line` to line `theirs` of `body`. Returns whether one may represent the other.
   */
  align(line: number, body: KeptBody, theirs: number): boolean {
    this.#body = body
    this.#unsigned = false
    this.#kind = 'kept'
    this.#shift = 0
    if (this.equal(line, theirs)) return true
    if (this.#isSigned(line)) {
      this.#kind = 'signed'
      return this.equal(line, theirs)
    }
    const mine = this.#mine
    const other = this.#other
    const { bytes } = this.#memory
    this.#unsigned = isSignedIn(this.#theirWord(theirs))
    this.#readMine(line, mine)
    readGutter(bytes, this.#theirStart(theirs), this.#theirStart(theirs + 1) - 1, other)
    if (!this.#unsigned && mine.kind === other.kind && this.#havePath()) {
      this.#shift = mine.number - other.number
    } else if (mine.kind === NONE) this.#kind = 'dropped'
    else {
      this.#kind = 'continued'
      this.#ownKind = mine.kind
      this.#base = mine.number - line
    }
    return this.equal(line, theirs)
  }

  /** Whether `line` equals `theirs` after the relation is applied. */
  equal(line: number, theirs: number): boolean {
    const { starts } = this.#text
    const start = starts[line]!
    const end = starts[line + 1]! - 1
    const from = this.#theirStart(theirs)
    const to = this.#theirStart(theirs + 1) - 1
    const word = this.#theirWord(theirs)
    // A reader would find a reference there.
    if (isCoveredIn(word)) return false
    if (this.#kind === 'kept' && this.#shift === 0) return this.#sameBytes(start, end, from, to)
    const areSigned = isSignedIn(word)
    if (this.#unsigned && !areSigned) return false
    readGutter(this.#memory.bytes, from, to, this.#other)
    if (this.#kind === 'signed') {
      const theirText = areSigned ? from + 1 : this.#other.textStart
      return this.#isSigned(line) && this.#sameBytes(start + 1, end, theirText, to)
    }
    readGutter(this.#text.bytes, start, end, this.#mine)
    const theirText = this.#unsigned ? from + 1 : this.#other.textStart
    return this.#gutterFits(line) && this.#sameBytes(this.#mine.textStart, end, theirText, to)
  }

  /** Whether the signs of a diff change with this line, if the relation has signs. */
  changesSign(line: number): boolean {
    return this.#kind === 'signed' && changesSign(this.#text, line)
  }

  /** The relation as a hint writes it for the lines `from` to before `end`. */
  relation(from: number, end: number): RunGutter {
    const kind = this.#kind
    if (kind === 'kept') return { kind, shift: this.#shift }
    if (kind === 'signed') return { kind, signs: signsOf(this.#text, from, end) }
    const signs = this.#unsigned ? ({ unsigned: true } as const) : {}
    if (kind === 'dropped') return { kind, ...signs }
    this.#readMine(from - 1, this.#before)
    return { kind, dashes: this.#before.kind !== this.#ownKind, ...signs }
  }

  /**
   * The part of a run from `from` to before `end` that a decoder can restore under the relation;
   * may be empty.
   */
  decodable(from: number, end: number): readonly [from: number, end: number] {
    if (this.#kind === 'signed') return [from, endOfSigns(this.#text, from, end)]
    if (this.#kind !== 'continued') return [from, end]
    const before = this.#before
    const dashes = this.#ownKind === DASH || this.#ownKind === PATH_DASH
    const earliest = Math.max(from, 1)
    // If the line before the first has no gutter to continue, the first line's own gutter is used
    // for the next.
    for (let first = earliest; first <= earliest + 1 && first < end; first++) {
      this.#readMine(first - 1, before)
      const leads =
        continuedKind(before.kind, dashes) === this.#ownKind &&
        before.number === this.#base + first - 1
      if (leads) return [first, endOfLayout(this.#text, first, end, before)]
    }
    return [end, end]
  }

  #gutterFits(line: number): boolean {
    const mine = this.#mine
    const other = this.#other
    if (this.#kind === 'dropped') return mine.kind === NONE
    if (this.#kind === 'continued') {
      const isPrinted = this.#unsigned || other.kind === NONE || other.number === mine.number
      return mine.kind === this.#ownKind && mine.number === this.#base + line && isPrinted
    }
    if (mine.kind !== other.kind) return false
    return mine.kind === NONE || (isMoved(mine, other, this.#shift) && this.#havePath())
  }

  /** Whether both gutters that were read last have the same path. */
  #havePath(): boolean {
    return haveSamePath(this.#text.bytes, this.#mine, this.#memory.bytes, this.#other)
  }

  #readMine(line: number, gutter: ByteGutter): void {
    const { bytes, starts } = this.#text
    readGutter(bytes, starts[line]!, starts[line + 1]! - 1, gutter)
  }

  #theirWord(line: number): number {
    return this.#memory.words[this.#body.startsAt + line]!
  }

  #theirStart(line: number): number {
    return this.#body.textAt + startIn(this.#theirWord(line))
  }

  #isSigned(line: number): boolean {
    const { signed } = this.#text
    return signed !== null && signed[line] === 1
  }
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
