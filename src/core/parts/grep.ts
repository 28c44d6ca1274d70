import { LINE_FEED } from '../json/char-codes.ts'
import { countLineFeeds } from './lines.ts'
import type { GrepSelector, Part } from './part.ts'

/** The offset of the next occurrence at or after `from`, or -1. */
type Search = (from: number) => number

/** The lower case of ASCII letters; other bytes stay. */
const FOLDED = Uint8Array.from({ length: 256 }, (_, c) => (c >= 0x41 && c <= 0x5a ? c + 0x20 : c))

/** Node compares so many bytes at each place that begins alike, and skips nothing. */
const PIECE_BYTES = 6
/** Bytes at the start of a body that tell which bytes are rare in it. */
const SAMPLE_BYTES = 64 * 1024
/** What a look at a place costs, in bytes that are passed over. */
const LOOK_BYTES = 256
/** Looks are free up to here, also in bytes. */
const FREE_BYTES = 16 * 1024

/**
 * Plain search for a text. A short piece of it is looked for by `Buffer.indexOf`, from its rarest
 * byte on, and the rest is compared. If too many pieces were not followed by the rest, the search
 * continues by Knuth, Morris and Pratt. So it is linear on every input. `Buffer.indexOf` of all the
 * text takes the product of both lengths on some.
 */
export function createSearch(body: Buffer, text: string, ignoreCase: boolean): Search {
  const needle = Buffer.from(text, 'utf8')
  return ignoreCase ? searchIn(folded(body), folded(needle)) : searchIn(body, needle)
}

function folded(bytes: Buffer): Buffer {
  const out = Buffer.allocUnsafe(bytes.length)
  for (let at = 0; at < bytes.length; at++) out[at] = FOLDED[bytes[at]!]!
  return out
}

function searchIn(bytes: Buffer, needle: Buffer): Search {
  const { length } = needle
  const offset = length <= PIECE_BYTES ? 0 : rarestByte(needle, bytes.subarray(0, SAMPLE_BYTES))
  const piece = needle.subarray(offset, offset + PIECE_BYTES)
  let borders: Uint32Array | undefined

  return from => {
    let spent = 0
    for (let at = from; at + length <= bytes.length; at++) {
      const found = bytes.indexOf(piece, at + offset)
      if (found < 0) return -1
      at = found - offset
      if (at + length > bytes.length) return -1
      if (bytes.compare(needle, 0, length, at, at + length) === 0) return at
      spent += length + LOOK_BYTES
      if (spent <= at - from + FREE_BYTES) continue
      borders ??= bordersOf(needle)
      return stepwise(bytes, needle, borders, at + 1)
    }
    return -1
  }
}

/** The place in a text of the byte that a sample has the fewest of. */
function rarestByte(needle: Buffer, sample: Buffer): number {
  const counts = new Uint32Array(256)
  for (const c of sample) counts[c]!++
  let rarest = 0
  for (const [at, c] of needle.entries()) {
    if (counts[c]! < counts[needle[rarest]!]!) rarest = at
  }
  return rarest
}

/** Knuth, Morris and Pratt. */
function stepwise(bytes: Buffer, needle: Buffer, borders: Uint32Array, from: number): number {
  let matched = 0
  for (let at = from; at < bytes.length; at++) {
    const c = bytes[at]!
    while (matched > 0 && needle[matched] !== c) matched = borders[matched - 1]!
    if (needle[matched] === c && ++matched === needle.length) return at - matched + 1
  }
  return -1
}

/** For each prefix the length of its longest proper prefix that is also its suffix. */
function bordersOf(needle: Uint8Array): Uint32Array {
  const borders = new Uint32Array(needle.byteLength)
  for (let i = 1, border = 0; i < needle.byteLength; i++) {
    while (border > 0 && needle[border] !== needle[i]) border = borders[border - 1]!
    if (needle[border] === needle[i]) border++
    borders[i] = border
  }
  return borders
}

/** Lines with the text that are shown; more are only counted. */
const MAX_SHOWN = 200
/**
 * Bytes shown of one line, around the match; and of all lines before the last match and its
 * context.
 */
const MAX_LINE_BYTES = 1024
const MAX_BYTES = 64 * 1024
const CUT = Buffer.from('…')

/** A line that has the text: its number, the bytes it lies in, and where the text was found. */
interface Match {
  readonly line: number
  readonly start: number
  readonly end: number
  readonly at: number
}

/**
 * Lines that hold a text, in the manner of `grep -n`: `12:` before a match, `11-` before its
 * context, `--` between places that do not touch. Long lines are cut with `…`. Linear in the body
 * whatever it holds.
 */
export function grep(body: Uint8Array, selector: GrepSelector): Part {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const search = createSearch(bytes, selector.text, selector.ignoreCase)
  const out = new Output(bytes)
  let matches = 0
  let shown = 0
  let line = 1
  let counted = 0
  let shownTo = 0
  for (let from = 0; from < bytes.length; ) {
    const at = search(from)
    if (at < 0) break
    matches++
    const start = bytes.lastIndexOf(LINE_FEED, at) + 1
    const end = lineEnd(bytes, at)
    if (shown === matches - 1 && shown < MAX_SHOWN) {
      line += countLineFeeds(bytes.subarray(counted, start))
      counted = start
      const upTo = out.place({ line, start, end, at }, selector.context, shownTo)
      if (upTo !== undefined) {
        shown++
        shownTo = upTo
      }
    }
    from = end + 1
  }
  return { kind: 'grep', content: out.content(), matches, shown }
}

/** The offset of the line feed that ends the line at `at`, or the end. */
function lineEnd(bytes: Buffer, at: number): number {
  const feed = bytes.indexOf(LINE_FEED, at)
  return feed < 0 ? bytes.length : feed
}

class Output {
  readonly #bytes: Buffer
  readonly #lines: Buffer[] = []
  #size = 0
  /** The last line that was shown. */
  #last = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /**
   * Shows a match and its context, unless there is enough already. Returns the offset after what it
   * showed; `shownTo` is that of the match before.
   */
  place(match: Match, context: number, shownTo: number): number | undefined {
    if (this.#size >= MAX_BYTES) return undefined
    this.#before(match, context, shownTo)
    this.#show(match.line, match.start, match.end, match.at, ':')
    let { line, end } = match
    for (let i = 0; i < context && end + 1 < this.#bytes.length; i++) {
      const start = end + 1
      end = lineEnd(this.#bytes, start)
      this.#show(++line, start, end, start, '-')
    }
    return end
  }

  content(): Uint8Array {
    return new Uint8Array(Buffer.concat(this.#lines))
  }

  /** The lines before a match that are not shown yet. */
  #before(match: Match, context: number, shownTo: number): void {
    if (this.#last >= match.line) {
      // The match before shows this line, and maybe later ones, as context. Those lines are
      // removed.
      while (this.#last >= match.line) {
        this.#size -= this.#lines.pop()!.length
        this.#last--
      }
      return
    }
    const starts: number[] = []
    let start = match.start
    const bound = shownTo === 0 ? 0 : shownTo + 1
    while (starts.length < context && start > bound) {
      start = start < 2 ? 0 : this.#bytes.lastIndexOf(LINE_FEED, start - 2) + 1
      starts.unshift(start)
    }
    const first = match.line - starts.length
    if (this.#last > 0 && first > this.#last + 1) this.#push(Buffer.from('--\n'))
    for (const [i, at] of starts.entries()) {
      this.#show(first + i, at, lineEnd(this.#bytes, at), at, '-')
    }
  }

  #show(line: number, start: number, end: number, at: number, mark: ':' | '-'): void {
    this.#push(
      Buffer.from(`${line}${mark}`),
      window(this.#bytes, start, end, at),
      Buffer.from('\n'),
    )
    this.#last = line
  }

  #push(...parts: Buffer[]): void {
    const text = Buffer.concat(parts)
    this.#lines.push(text)
    this.#size += text.length
  }
}

/** At most `MAX_LINE_BYTES` of a line, from a little before `at`, cut between characters. */
function window(bytes: Buffer, start: number, end: number, at: number): Buffer {
  if (end - start <= MAX_LINE_BYTES) return bytes.subarray(start, end)
  const left = Math.max(start, Math.min(at - MAX_LINE_BYTES / 4, end - MAX_LINE_BYTES))
  const from = left === start ? start : boundary(bytes, left)
  const to = Math.min(end, from + MAX_LINE_BYTES)
  const until = to === end ? end : boundary(bytes, to)
  return Buffer.concat([
    ...(from > start ? [CUT] : []),
    bytes.subarray(from, until),
    ...(until < end ? [CUT] : []),
  ])
}

/** The start of the character that byte `at` belongs to. */
function boundary(bytes: Buffer, at: number): number {
  let start = at
  while (start > 0 && at - start < 3 && (bytes[start]! & 0xc0) === 0x80) start--
  return start
}
