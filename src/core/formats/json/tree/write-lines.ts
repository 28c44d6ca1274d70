import type { Value } from '../../../json/value.ts'
import type { Uses } from '../../../reading/constructs.ts'
import type { Forms, Frame } from './draft.ts'
import { findPatternRuns, type PatternRun } from './pattern-runs.ts'
import { type KeyTexts, LazyPiece, type Pricer } from './pricer.ts'
import {
  type CountedText,
  type ScalarText,
  scalarText,
  shorten,
  writtenText,
} from './scalar-text.ts'
import { ITEM_MARK, NOT_IN_ITEM, NOT_IN_LINE, PATTERN_MARK } from './syntax.ts'
import type { Piece } from './trace.ts'
import { addUses } from './uses.ts'
import { afterSign, writeStringLines } from './write-inline.ts'
import { type Scalar, writeAffix, writeText } from './write-text.ts'

/** The container, its frame filled with the forms of its members. */
export function fillFrame(frame: Frame, inner: readonly (Forms | null)[]): Piece {
  const { texts, slots } = frame
  let [tokens, surcharge] = [0, 0]
  let uses: Uses | undefined
  for (const slot of slots) {
    const { shown } = inner[slot]!
    tokens += shown.tokens
    surcharge += shown.surcharge
    uses = addUses(uses, shown.uses)
  }
  // Estimated tokens are fractions: another order of the sum would decide equal ways otherwise.
  const write = () => {
    let text = texts[0]!
    for (let i = 0; i < slots.length; i++) text += inner[slots[i]!]!.shown.text + texts[i + 1]!
    return text
  }
  return new LazyPiece(tokens + frame.tokens, surcharge, write, uses)
}

/** A frame before its tokens are counted. */
export interface UncountedFrame extends Omit<Frame, 'tokens'> {
  /** Its own text as it is counted, without the middles, which have so many tokens. */
  readonly own: string
  readonly middles: number
}

/** Collects the texts of a frame. */
class FrameWriter {
  readonly #texts: string[] = []
  readonly #slots: number[] = []
  #text = ''
  #own = ''
  #middles = 0

  add({ text, counted, middle }: CountedText): void {
    this.#text += text
    this.#own += counted
    this.#middles += middle
  }

  /** @param start the text before the member, which has a form of its own */
  slot(start: string, index: number): void {
    this.#texts.push(this.#text + start)
    this.#slots.push(index)
    this.#own += start
    this.#text = ''
  }

  end(): UncountedFrame {
    this.#texts.push(this.#text)
    return { texts: this.#texts, slots: this.#slots, own: this.#own, middles: this.#middles }
  }
}

/**
 * A line for each member; the first without its spaces.
 * @param scalars the members without forms of their own; `null` for the others
 */
export function frameOfMembers(
  values: readonly Value[],
  keys: readonly KeyTexts[],
  scalars: readonly (ScalarText | null)[],
  level: number,
  pricer: Pricer,
): UncountedFrame {
  const indent = `\n${' '.repeat(level)}`
  const runs = findPatternRuns(values)
  const writer = new FrameWriter()
  let nextRun = 0
  for (let i = 0; i < keys.length; i++) {
    const run = runs[nextRun]
    if (run?.start === i) {
      nextRun++
      const lines = linesOfRun({ keys, values }, run, scalars, level, pricer)
      if (lines !== null) {
        writer.add(lines)
        i = run.end - 1
        continue
      }
    }
    const scalar = scalars[i]!
    const start = (i === 0 ? '' : indent) + keys[i]!.line
    if (scalar === null) writer.slot(start, i)
    else writer.add(after(start, memberText(values[i] as Scalar, scalar, pricer)))
  }
  return writer.end()
}

function after(start: string, { text, counted, middle }: CountedText): CountedText {
  return { text: start + text, counted: start + counted, middle }
}

/** The members below their common prefix, or `null` if that saves nothing. */
function linesOfRun(
  { keys, values }: { readonly keys: readonly KeyTexts[]; readonly values: readonly Value[] },
  { start, end, prefix }: PatternRun,
  scalars: readonly (ScalarText | null)[],
  level: number,
  pricer: Pricer,
): CountedText | null {
  const indent = `\n${' '.repeat(level)}`
  let plain = ''
  let text = `${indent}=${writeAffix(prefix, NOT_IN_LINE, 0)}${PATTERN_MARK}`
  let counted = text
  let [plainMiddle, middle] = [0, 0]
  for (let i = start; i < end; i++) {
    const value = values[i] as string
    const key = keys[i]!.line
    const line = memberText(value, scalars[i] ?? scalarText(value, pricer), pricer)
    plain += `${indent}${key}${line.counted}`
    plainMiddle += line.middle
    const rest = writeText(value.slice(prefix.length), NOT_IN_LINE)
    const short = shorten(rest, pricer)
    text += `${indent} ${key}:${afterSign(value, rest)}`
    counted += `${indent} ${key}:${afterSign(value, short.text)}`
    middle += short.middle
  }
  const isShorter = pricer.tokens(counted) + middle < pricer.tokens(plain) + plainMiddle
  return isShorter ? { text, counted, middle } : null
}

/** A scalar after its key, colon included. */
export function memberText(value: Scalar, scalar: ScalarText, pricer: Pricer): CountedText {
  const lines = typeof value === 'string' ? writeStringLines(value, scalar, pricer) : null
  if (lines !== null) {
    return { text: `:${lines.text}`, counted: `:${lines.counted}`, middle: lines.middle }
  }
  const { text, counted, middle } = writtenText(value, scalar, NOT_IN_LINE)
  return { text: `:${afterSign(value, text)}`, counted: `:${afterSign(value, counted)}`, middle }
}

/** A line with a dash for each item. */
export function frameOfItems(
  values: readonly Value[],
  scalars: readonly (ScalarText | null)[],
  level: number,
  pricer: Pricer,
): UncountedFrame {
  const indent = ' '.repeat(level)
  const writer = new FrameWriter()
  for (let i = 0; i < values.length; i++) {
    const scalar = scalars[i]!
    const start = `${i === 0 ? '' : '\n'}${indent}${ITEM_MARK}`
    if (scalar === null) writer.slot(start, i)
    else writer.add(after(start, itemText(values[i] as Scalar, scalar, pricer)))
  }
  return writer.end()
}

export function itemText(value: Scalar, scalar: ScalarText, pricer: Pricer): CountedText {
  const lines = typeof value === 'string' ? writeStringLines(value, scalar, pricer) : null
  if (lines !== null) return lines
  return writtenText(value, scalar, NOT_IN_ITEM)
}
