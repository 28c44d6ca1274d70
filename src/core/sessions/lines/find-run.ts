import type { SessionKey } from '../index/session-key.ts'
import type { BodyMemory, KeptBody } from './body-memory.ts'
import { createLineComparer, type RunGutter } from './compare-lines.ts'
import { createGutter, readGutter } from './gutter.ts'
import { printedName } from './numbering.ts'
import type { ScannedText } from './scan-text.ts'

/** Lines of a new text that repeat lines of an earlier body. */
export interface FoundRun {
  readonly body: KeptBody
  /** First line of the new text, counted from 0, and the line behind the last. */
  readonly from: number
  readonly end: number
  /** First and last line of the earlier body, as a reader names them. */
  readonly first: number
  readonly last: number
  /** Whether `first` is also what a count from 1 gives. */
  readonly counted: boolean
  readonly gutter: RunGutter
  /** From a line of the new text to the line of the body it repeats. */
  readonly offset: number
}

/** Finds, for a line, the longest run through it. */
export interface RunFinder {
  /**
   * The best run that starts at `line`, with the lines before it that match too, down to `floor`.
   * Work is bounded by a few times the length of what it returns, or a constant.
   * @param favourite its runs are taken if they are nearly as long: they are the cheapest to refer
   * to
   */
  find(line: number, floor: number, favourite: FoundRun | null): FoundRun | null
  /** The line up to which the last `find` compared; a search that goes on there stays linear. */
  tried(): number
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
 * @param allowed whether an identity may be referred to; asked once for each body
 */
export function createRunFinder(
  text: ScannedText,
  memory: BodyMemory,
  key: SessionKey,
  allowed: (identity: string) => boolean,
): RunFinder {
  const comparer = createLineComparer(text, memory.parts)
  const bodies = new Map<number, KeptBody | null>()
  const gutter = createGutter()
  let bestEnd = 0

  function bodyAt(position: number): KeptBody | null {
    let body = bodies.get(position)
    if (body === undefined) {
      const opened = memory.open(position, key)
      body = opened !== null && allowed(opened.identity) ? opened : null
      bodies.set(position, body)
    }
    return body
  }

  /**
   * The line behind a run from `line`, or `line`; stops early where it cannot reach beyond `least`.
   */
  function forward(line: number, body: KeptBody, theirs: number, least: number): number {
    if (theirs < 0 || theirs >= body.lines || !comparer.align(line, body, theirs)) return line
    const offset = theirs - line
    const limit = Math.min(text.lines, body.lines - offset)
    if (least >= limit || (least > line && !comparer.equal(least, least + offset))) return line
    let end = line + 1
    while (end < limit && comparer.equal(end, end + offset)) end++
    return end
  }

  function backward(line: number, floor: number, offset: number): number {
    const least = Math.max(floor, line - MAX_BACK_LINES, -offset)
    let from = line
    while (from > least && fitsBack(from - 1) && comparer.equal(from - 1, from - 1 + offset)) from--
    return from
  }

  const fitsBack = (line: number) => text.starts[line + 1]! - text.starts[line]! <= MAX_BACK_BYTES

  function find(line: number, floor: number, favourite: FoundRun | null): FoundRun | null {
    let best: KeptBody | null = null
    let bestOffset = 0
    bestEnd = line
    const consider = (body: KeptBody, theirs: number) => {
      const favour = body === favourite?.body ? FAVOUR_BYTES : 0
      // A favourite is followed to its own end, then weighed.
      const end = forward(line, body, theirs, favour > 0 ? line : bestEnd)
      if (end === line || text.starts[end]! + favour <= text.starts[bestEnd]!) return
      best = body
      bestOffset = theirs - line
      bestEnd = end
    }
    // Where an edit changed as many lines as there were, the last run's body goes on at the same
    // distance.
    if (favourite !== null) consider(favourite.body, line + favourite.offset)
    const first = text.hashes[2 * line]!
    if (first !== 0) {
      const { count, positions, lines } = memory.table.find(first, text.hashes[2 * line + 1]!)
      for (let i = 0; i < count; i++) {
        const body = bodyAt(positions[i]!)
        if (body !== null) consider(body, lines[i]!)
      }
    }
    return best === null ? null : complete(best, line, bestEnd, bestOffset, floor)
  }

  /** The run with what matches before it, cut to what can be named and decoded. */
  function complete(
    body: KeptBody,
    line: number,
    behind: number,
    offset: number,
    floor: number,
  ): FoundRun | null {
    if (!comparer.align(line, body, line + offset)) return null
    let [from, end] = comparer.decodable(backward(line, floor, offset), behind)
    let first = 0
    while (from < end && first === 0) {
      first = nameOf(body, from + offset)
      if (first === 0) from++
    }
    let last = 0
    while (from < end && last === 0) {
      last = nameOf(body, end - 1 + offset)
      if (last === 0) end--
    }
    if (from >= end) return null
    const [start] = comparer.decodable(from, end)
    if (start !== from) return null
    const counted = first === from + offset + 1
    return { body, from, end, first, last, counted, gutter: comparer.relation(from), offset }
  }

  /**
   * What a reader calls this line of a body: its printed number or its place from 1; 0 if it has no
   * name.
   */
  function nameOf(body: KeptBody, line: number): number {
    if (!body.numbered) return line + 1
    const { words, bytes } = memory.parts
    const start = body.textAt + words[body.startsAt + line]!
    readGutter(bytes, start, body.textAt + words[body.startsAt + line + 1]! - 1, gutter)
    return printedName(gutter)
  }

  return { find, tried: () => bestEnd }
}
