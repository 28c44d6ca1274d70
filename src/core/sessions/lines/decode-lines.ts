import type { AppError } from '../../base/errors.ts'
import {
  type ByteGutter,
  continuedKind,
  createGutter,
  NONE,
  readGutter,
  writeGutter,
} from '../../formats/gutter/byte-gutter.ts'
import { createSignScan } from '../../formats/gutter/byte-signs.ts'
import { createNumberingTest, printedName } from '../../formats/gutter/numbering.ts'
import { decodedTooLong, notDecodable } from '../../formats/not-decodable.ts'
import type { RunGutter } from './compare-lines.ts'
import { isReferenceLike, unguardLine } from './guard-line.ts'
import { type LineReference, readReference } from './reference-line.ts'
import { startsOfLines } from './scan-text.ts'
import { printedSign, type SignRun } from './sign-runs.ts'

/**
 * The text that `encodeLines` wrote.
 * @param resolve the text of the earlier result with this ref, or `undefined` if there is none
 * @param maxChars UTF-16 code units that are written at most
 * @throws AppError `not_decodable` with the line and what is missing; `payload_too_large`
 */
export function decodeLines(
  content: string,
  resolve: (ref: string) => string | undefined,
  maxChars: number,
): string {
  const out: string[] = []
  const bodies = new Map<string, EarlierText>()
  let length = -1
  let last = ''
  let current: EarlierText | undefined
  let at = 0

  const push = (text: string) => {
    length += text.length + 1
    if (length > maxChars) throw decodedTooLong(maxChars)
    out.push(text)
  }

  const fail = (reason: string): AppError => notDecodable(content, at, reason)

  function bodyOf(ref: string): EarlierText {
    let body = bodies.get(ref)
    if (body === undefined) {
      const text = resolve(ref)
      if (text === undefined) throw fail(`no earlier result ${ref}`)
      const opened = openEarlierText(text)
      if (opened === null) throw fail(`the earlier result ${ref} has too many lines`)
      body = opened
      bodies.set(ref, body)
    }
    return body
  }

  function expand(reference: LineReference): void {
    if (reference.ref !== undefined) current = bodyOf(reference.ref)
    if (current === undefined) throw fail('the same earlier result, but none was named before')
    const from = current.find(reference.first)
    const end = current.find(reference.last) + 1
    if (from < 0 || end <= from) throw fail('the earlier result has no such lines')
    const { gutter } = reference
    if (gutter.kind === 'kept' && gutter.shift === 0) {
      push(current.slice(from, end))
      last = current.slice(end - 1, end)
      return
    }
    if (gutter.kind === 'signed') {
      const signs = printedSigns(gutter.signs, end - from)
      if (signs === null) throw fail('not as many signs as lines')
      for (let line = from; line < end; line++) {
        last = signs[line - from]! + current.bare(line)
        push(last)
      }
      return
    }
    const write = gutterWriter(gutter, last)
    const isUnsigned = 'unsigned' in gutter
    for (let line = from; line < end; line++) {
      const written = current.withGutter(line, write, isUnsigned)
      if (written === null) throw fail(isUnsigned ? 'no signs to drop' : 'no numbers to go on from')
      last = written
      push(last)
    }
  }

  for (const line of content.split('\n')) {
    if (isReferenceLike(line)) {
      const reference = readReference(line)
      if (reference === null) throw fail('neither content nor a reference')
      expand(reference)
    } else {
      last = unguardLine(line)
      push(last)
    }
    at += line.length + 1
  }
  return out.join('\n')
}

/** An earlier result while an answer is decoded. */
interface EarlierText {
  /** The line with this name, counted from 0, or -1. */
  find(name: number): number
  /** Lines `from` to before `end` as they are. */
  slice(from: number, end: number): string
  /**
   * A line with another gutter; `write` is given the old one and the path before it. `null` if it
   * cannot have one, or has no sign to lose.
   */
  withGutter(line: number, write: GutterRewriter, isUnsigned: boolean): string | null
  /** A line without its gutter or sign. */
  bare(line: number): string
}

/** Returns the new gutter of a line, or `null` if it cannot have one. */
type GutterRewriter = (gutter: ByteGutter, path: string) => string | null

/** @returns `null` for a text that no reference can be to, having too many lines */
function openEarlierText(text: string): EarlierText | null {
  const buffer = Buffer.from(text, 'utf8')
  const starts = startsOfLines(buffer)
  if (starts === null) return null
  const lines = starts.length - 1
  const gutter = createGutter()
  const names = printedNames()
  let signs: Uint8Array | undefined

  const isSigned = (line: number) => {
    signs ??= signedLines(buffer, starts)
    return signs[line] === 1
  }
  const textFrom = (at: number, line: number) => buffer.toString('utf8', at, starts[line + 1]! - 1)

  /** Line by printed number, or `null` if lines are counted. */
  function printedNames(): ReadonlyMap<number, number> | null {
    const numbering = createNumberingTest()
    const found = new Map<number, number>()
    for (let line = 0; line < lines; line++) {
      const end = starts![line + 1]! - 1
      readGutter(buffer, starts![line]!, end, gutter)
      numbering.add(gutter, end)
      found.set(printedName(gutter), line)
    }
    return numbering.isNumbered() ? found : null
  }

  return {
    find(name) {
      if (names !== null) return names.get(name) ?? -1
      return name >= 1 && name <= lines ? name - 1 : -1
    },
    slice: (from, end) => buffer.toString('utf8', starts[from], starts[end]! - 1),
    bare(line) {
      if (isSigned(line)) return textFrom(starts[line]! + 1, line)
      readGutter(buffer, starts[line]!, starts[line + 1]! - 1, gutter)
      return textFrom(gutter.textStart, line)
    },
    withGutter(line, write, isUnsigned) {
      if (isUnsigned && !isSigned(line)) return null
      const end = starts[line + 1]! - 1
      readGutter(buffer, starts[line]!, end, gutter)
      const path = buffer.toString(
        'utf8',
        gutter.start,
        Math.max(gutter.start, gutter.numberStart - 1),
      )
      const written = write(gutter, path)
      if (written === null) return null
      return written + textFrom(isUnsigned ? starts[line]! + 1 : gutter.textStart, line)
    },
  }
}

function signedLines(bytes: Uint8Array, starts: Uint32Array): Uint8Array {
  const signed = new Uint8Array(starts.length - 1)
  const scan = createSignScan()
  for (let line = 0; line < signed.length; line++) {
    if (scan.isSigned(bytes, starts[line]!, starts[line + 1]! - 1)) signed[line] = 1
  }
  return signed
}

/** What is printed before each of so many lines; `null` if the signs are for another number. */
function printedSigns(runs: readonly SignRun[], lines: number): readonly string[] | null {
  const sum = runs.reduce((all, run) => all + run.lines, 0)
  if (sum !== lines) return null
  return runs.flatMap(run => Array<string>(run.lines).fill(printedSign(run.sign)))
}

/**
 * Returns how gutters are rewritten in a run. @param before the line before the run, whose gutter
 * may be continued
 */
function gutterWriter(
  gutter: Exclude<RunGutter, { kind: 'signed' }>,
  before: string,
): GutterRewriter {
  if (gutter.kind === 'dropped') return () => ''
  if (gutter.kind === 'kept') {
    const { shift } = gutter
    return (old, path) => {
      if (old.kind === NONE) return ''
      const number = old.number + shift
      return number < 0 ? null : writeGutter(old, path, number, old.kind)
    }
  }
  const bytes = Buffer.from(before, 'utf8')
  const model = createGutter()
  readGutter(bytes, 0, bytes.length, model)
  const kind = continuedKind(model.kind, gutter.dashes)
  if (kind === NONE) return () => null
  const path = bytes.toString('utf8', 0, Math.max(0, model.numberStart - 1))
  let { number } = model
  return () => writeGutter(model, path, ++number, kind)
}
