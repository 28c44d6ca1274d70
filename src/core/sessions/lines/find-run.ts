import { type ByteGutter, createGutter, readGutter } from '../../formats/gutter/byte-gutter.ts'
import { printedName } from '../../formats/gutter/numbering.ts'
import type { SessionKey } from '../index/session-index.ts'
import { startIn } from './body-image.ts'
import type { BodyMemory, KeptBody } from './body-memory.ts'
import { LineComparer, type RunGutter } from './compare-lines.ts'
import type { ScannedText } from './scan-text.ts'
import { MAX_SIGN_RUNS } from './sign-runs.ts'

/** Lines of a new text that repeat lines of an earlier body. */
export interface FoundRun {
  readonly body: KeptBody
  /** First line of the new text, counted from 0, and the line after the last. */
  readonly from: number
  readonly end: number
  /** First and last line of the earlier body, as a reader names them. */
  readonly first: number
  readonly last: number
  readonly gutter: RunGutter
  /** From a line of the new text to the line of the body it repeats. */
  readonly offset: number
}

/** The lines that a run may have, `limit` exclusive. */
interface RunBounds {
  readonly floor: number
  readonly limit: number
}

/** A run of the favourite body may be this many bytes shorter. */
const FAVOUR_BYTES = 60
/**
 * Lines, and bytes of one, that are compared before a run's first line: a rejected run costs no
 * more than this.
 */
const MAX_BACK_LINES = 32
const MAX_BACK_BYTES = 4096

/**
 * So many lines, and four times the lines of both, are compared in vain with a body that may only
 * be referred to as a whole. In a text of equal lines it would be compared again from each of them.
 */
const MAX_WASTED_LINES = 1 << 16

/** What may be referred to of a body: any of its lines, or only nearly all of them. */
export type Allowed = 'lines' | 'whole' | 'none'

/**
 * Lines, and bytes of them, that may be before and after a run that is nearly all of a body. Hosts
 * put such a head and tail around what a command printed. With a bracket they may be a part of it.
 */
const MAX_AROUND_LINES = 6
const MAX_AROUND_BYTES = 300
const BRACKETS: ReadonlySet<number> = new Set(Buffer.from('[]{}'))
const OPENERS: ReadonlySet<number> = new Set(Buffer.from('[{'))

/** Finds, for a line, the longest run through it. */
export class RunFinder {
  readonly #text: ScannedText
  readonly #memory: BodyMemory
  readonly #key: SessionKey
  readonly #allowed: (identity: string) => Allowed
  readonly #comparer: LineComparer
  readonly #bodies = new Map<number, KeptBody | null>()
  readonly #wholes = new Set<KeptBody>()
  /** How many lines were compared in vain with each body. */
  readonly #wasted = new Map<KeptBody, number>()
  readonly #gutter: ByteGutter = createGutter()
  /** The best run of the current `find`; its body is `null` if there is none. */
  #best: KeptBody | null = null
  #bestOffset = 0
  #bestEnd = 0
  #limit = 0

  /**
   * @param allowed what of the body with an identity may be referred to; called once for each body
   */
  constructor(
    text: ScannedText,
    memory: BodyMemory,
    key: SessionKey,
    allowed: (identity: string) => Allowed,
  ) {
    this.#text = text
    this.#memory = memory
    this.#key = key
    this.#allowed = allowed
    this.#comparer = new LineComparer(text, memory.parts)
  }

  /**
   * The best run that starts at `line`, with the lines before it that match too, down to `floor`.
   * The work is bounded by a few times the length of the result, or by a constant.
   * @param bounds lines `floor` to before `limit` may be in it
   * @param favourite its runs are preferred if they are nearly as long, because references to it
   *   are the cheapest
   */
  find(line: number, { floor, limit }: RunBounds, favourite: FoundRun | null): FoundRun | null {
    this.#best = null
    this.#limit = limit
    this.#bestOffset = 0
    this.#bestEnd = line
    // If an edit did not change the number of lines, the last run's body continues at the same
    // distance.
    if (favourite !== null) this.#consider(favourite.body, line, line + favourite.offset, favourite)
    const { hashes } = this.#text
    const first = hashes[2 * line]!
    if (first !== 0) {
      const { positions, lines } = this.#placesOf(first, hashes[2 * line + 1]!)
      for (const [i, position] of positions.entries()) {
        const body = this.#bodyAt(position)
        if (body !== null) this.#consider(body, line, lines[i]!, favourite)
      }
    }
    return this.#best === null ? null : this.#complete(this.#best, line, floor)
  }

  /** A copy of a hash's places, because to open a body looks up others. */
  #placesOf(first: number, second: number) {
    const { count, positions, lines } = this.#memory.table.find(first, second)
    return { positions: positions.slice(0, count), lines: lines.slice(0, count) }
  }

  /** The line up to which the last `find` compared; a search that continues there stays linear. */
  tried(): number {
    return this.#bestEnd
  }

  #bodyAt(position: number): KeptBody | null {
    let body = this.#bodies.get(position)
    if (body === undefined) {
      const opened = this.#memory.open(position, this.#key)
      const isFound = opened !== null && this.#memory.isCurrent(opened, this.#key)
      const part = isFound ? this.#allowed(opened.identity) : 'none'
      body = part === 'none' ? null : opened
      if (body !== null && part === 'whole') this.#wholes.add(body)
      this.#bodies.set(position, body)
    }
    return body
  }

  /** Makes the run from `line` the best one if it is longer. */
  #consider(body: KeptBody, line: number, theirs: number, favourite: FoundRun | null): void {
    const wasted = this.#wasted.get(body) ?? 0
    if (wasted > MAX_WASTED_LINES + 4 * (this.#text.lines + body.lines)) return
    const { starts } = this.#text
    const favour = body === favourite?.body ? FAVOUR_BYTES : 0
    // The favourite's run is followed to its end and then compared.
    const end = this.#forward(line, body, theirs, favour > 0 ? line : this.#bestEnd)
    if (end === line || starts[end]! + favour <= starts[this.#bestEnd]!) return
    const isWhole = this.#wholes.has(body)
    if (isWhole && !this.#isAround(body, end + theirs - line, body.lines)) {
      this.#wasted.set(body, wasted + end - line)
      return
    }
    this.#best = body
    this.#bestOffset = theirs - line
    this.#bestEnd = end
  }

  /** Whether lines of a body are few, and may be what a host puts around a result. */
  #isAround(body: KeptBody, from: number, end: number): boolean {
    if (end - from > MAX_AROUND_LINES) return false
    if (from === end) return true
    const { words, bytes } = this.#memory.parts
    const start = body.textAt + startIn(words[body.startsAt + from]!)
    let stop = body.textAt + startIn(words[body.startsAt + end]!) - 1
    if (stop - start > MAX_AROUND_BYTES) return false
    // JSON may begin at the end of the line before its first whole one.
    if (from === 0 && OPENERS.has(bytes[stop - 1]!)) stop--
    for (let at = start; at < stop; at++) if (BRACKETS.has(bytes[at]!)) return false
    return true
  }

  /**
   * The line after a run from `line`, or `line`. Stops early if the run cannot reach beyond
   * `least`.
   */
  #forward(line: number, body: KeptBody, theirs: number, least: number): number {
    const comparer = this.#comparer
    if (theirs < 0 || theirs >= body.lines || !comparer.align(line, body, theirs)) return line
    const offset = theirs - line
    const limit = Math.min(this.#limit, body.lines - offset)
    if (least >= limit || (least > line && !comparer.equal(least, least + offset))) return line
    let end = line + 1
    // Compared lines that the run cannot have would be compared again for the next one.
    for (let signs = 1; end < limit && comparer.equal(end, end + offset); end++) {
      if (comparer.changesSign(end) && ++signs > MAX_SIGN_RUNS) break
    }
    return end
  }

  #backward(line: number, floor: number, offset: number): number {
    const least = Math.max(floor, line - MAX_BACK_LINES, -offset)
    let from = line
    while (
      from > least &&
      this.#fitsBack(from - 1) &&
      this.#comparer.equal(from - 1, from - 1 + offset)
    ) {
      from--
    }
    return from
  }

  #fitsBack(line: number): boolean {
    const { starts } = this.#text
    return starts[line + 1]! - starts[line]! <= MAX_BACK_BYTES
  }

  /** The best run with what matches before it, cut to lines that can be named and decoded. */
  #complete(body: KeptBody, line: number, floor: number): FoundRun | null {
    const comparer = this.#comparer
    const offset = this.#bestOffset
    if (!comparer.align(line, body, line + offset)) return null
    let [from, end] = comparer.decodable(this.#backward(line, floor, offset), this.#bestEnd)
    let first = 0
    while (from < end && first === 0) {
      first = this.#nameOf(body, from + offset)
      if (first === 0) from++
    }
    let last = 0
    while (from < end && last === 0) {
      last = this.#nameOf(body, end - 1 + offset)
      if (last === 0) end--
    }
    if (from >= end) return null
    const [start] = comparer.decodable(from, end)
    if (start !== from) return null
    const run = {
      body,
      from,
      end,
      first,
      last,
      gutter: comparer.relation(from, end),
      offset,
    }
    return this.#wholes.has(body) && !this.#isWhole(run) ? null : run
  }

  /** Whether a run is nearly all of its body, with its lines unchanged. */
  #isWhole({ body, from, end, gutter, offset }: FoundRun): boolean {
    const isUnchanged = gutter.kind === 'kept' && gutter.shift === 0
    const [first, last] = [from + offset, end + offset]
    return isUnchanged && this.#isAround(body, 0, first) && this.#isAround(body, last, body.lines)
  }

  /**
   * The name of this line of a body for a reader: its printed number, or its place counted from 1;
   * 0 if it has no name.
   */
  #nameOf(body: KeptBody, line: number): number {
    if (!body.numbered) return line + 1
    const { words, bytes } = this.#memory.parts
    const start = body.textAt + startIn(words[body.startsAt + line]!)
    const end = body.textAt + startIn(words[body.startsAt + line + 1]!) - 1
    readGutter(bytes, start, end, this.#gutter)
    return printedName(this.#gutter)
  }
}
