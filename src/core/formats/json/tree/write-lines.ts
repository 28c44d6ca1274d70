import type { ObjectValue, Value } from '../../../json/value.ts'
import { findPatternRuns, type PatternRun } from './pattern-runs.ts'
import type { Pricer } from './pricer.ts'
import {
  type CountedText,
  type ScalarText,
  scalarText,
  shorten,
  writtenText,
} from './scalar-text.ts'
import { ITEM_MARK, NOT_IN_ITEM, NOT_IN_LINE, PATTERN_MARK } from './syntax.ts'
import type { Piece } from './trace.ts'
import { afterSign, writeStringLines } from './write-inline.ts'
import { type Scalar, writeAffix, writeText } from './write-text.ts'

/** The cheapest ways to write a container. */
export interface Forms {
  /** In brackets, on one line. */
  readonly inline: Piece
  /**
   * In its role: after a key, its colon included; as an item of a list, the first line without its
   * spaces; or as the whole document.
   */
  readonly shown: Piece
}

/** The forms of a container's members that have some, and the texts of the others. */
export interface Members {
  readonly inner: readonly (Forms | null)[]
  readonly scalars: readonly (ScalarText | null)[]
}

/** A line for each member; the first without its spaces. */
export function linesOfMembers(
  value: ObjectValue,
  members: Members,
  level: number,
  pricer: Pricer,
): Piece {
  const { inner, scalars } = members
  const { keys, values } = value
  const indent = `\n${' '.repeat(level)}`
  const runs = findPatternRuns(values)
  let nextRun = 0
  let text = ''
  let own = ''
  let [tokens, surcharge, middles] = [0, 0, 0]
  for (let i = 0; i < keys.length; i++) {
    const run = runs[nextRun]
    if (run?.start === i) {
      nextRun++
      const lines = linesOfRun(value, run, members, level, pricer)
      if (lines !== null) {
        text += lines.text
        own += lines.counted
        middles += lines.middle
        i = run.end - 1
        continue
      }
    }
    const forms = inner[i]!
    const start = (i === 0 ? '' : indent) + pricer.keyTexts(keys[i]!).line
    if (forms === null) {
      const line = memberText(values[i] as Scalar, scalars[i]!, pricer)
      text += start + line.text
      own += start + line.counted
      middles += line.middle
    } else {
      text += start + forms.shown.text
      own += start
      tokens += forms.shown.tokens
      surcharge += forms.shown.surcharge
    }
  }
  return { text, tokens: tokens + (pricer.tokens(own) + middles), surcharge }
}

/** The members below their common prefix, or `null` if that saves nothing. */
function linesOfRun(
  { keys, values }: ObjectValue,
  { start, end, prefix }: PatternRun,
  { scalars }: Members,
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
    const key = pricer.keyTexts(keys[i]!).line
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
export function linesOfItems(
  values: readonly Value[],
  { inner, scalars }: Members,
  level: number,
  pricer: Pricer,
): Piece {
  const indent = ' '.repeat(level)
  let text = ''
  let own = ''
  let [tokens, surcharge, middles] = [0, 0, 0]
  for (let i = 0; i < values.length; i++) {
    const forms = inner[i]!
    const start = `${i === 0 ? '' : '\n'}${indent}${ITEM_MARK}`
    if (forms === null) {
      const line = itemText(values[i] as Scalar, scalars[i]!, pricer)
      text += start + line.text
      own += start + line.counted
      middles += line.middle
    } else {
      text += start + forms.shown.text
      own += start
      tokens += forms.shown.tokens
      surcharge += forms.shown.surcharge
    }
  }
  return { text, tokens: tokens + (pricer.tokens(own) + middles), surcharge }
}

export function itemText(value: Scalar, scalar: ScalarText, pricer: Pricer): CountedText {
  const lines = typeof value === 'string' ? writeStringLines(value, scalar, pricer) : null
  if (lines !== null) return lines
  return writtenText(value, scalar, NOT_IN_ITEM)
}
