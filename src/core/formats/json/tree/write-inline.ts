import { ObjectValue, type Value } from '../../../json/value.ts'
import { writeJson } from '../../../json/write-json.ts'
import { escapeText } from '../../bare-text.ts'
import { LINE_FEED_BIT, UNSAFE_BIT } from '../../text-content.ts'
import { bracketPiece, type Pricer, type ShapeWriter } from './pricer.ts'
import { type CountedText, inBrackets, NO_STRING, type ScalarText, shorten } from './scalar-text.ts'
import {
  FENCE_CHAR,
  LONGEST_FENCE,
  NOT_IN_INLINE_KEY,
  NOT_INLINE,
  SHORTEST_FENCE,
} from './syntax.ts'
import type { Piece } from './trace.ts'
import { isScalar, writeScalar, writeText } from './write-text.ts'

/**
 * Any value in brackets, as in JSON but without the quotes that are not needed: `{a: x,b:[1,
 * two]}`. Words have a space before them if it is part of the word's token. Recursion is as deep as
 * the value.
 * @param shapes writes the objects that have a declared shape
 */
export function writeInline(value: Value, shapes?: ShapeWriter): string {
  if (isScalar(value)) return writeScalar(value, NOT_INLINE)
  if (value instanceof ObjectValue) return shapes?.write(value) ?? writeBraces(value, shapes)
  return bareArray(
    value,
    value.map(item => writeInline(item, shapes)),
  )
}

/** An object in braces. Those inside it may have a shape. */
export function writeBraces(value: ObjectValue, shapes?: ShapeWriter): string {
  return bareObject(
    value,
    value.values.map(member => writeInline(member, shapes)),
  )
}

/**
 * A value as it is written after a colon or comma: with a space in front of strings that begin with
 * a letter. Literals need none, `:true` and `,null` are tokens themselves.
 */
export function afterSign(value: Value, text: string): string {
  return typeof value === 'string' && startsWithLetter(text) ? ` ${text}` : text
}

function startsWithLetter(text: string): boolean {
  const lower = text.charCodeAt(0) | 0x20
  return lower >= 0x61 && lower <= 0x7a
}

function bareObject(value: ObjectValue, texts: readonly string[]): string {
  let out = '{'
  for (let i = 0; i < texts.length; i++) {
    const key = writeText(value.keys[i]!, NOT_IN_INLINE_KEY)
    out += `${i === 0 ? '' : ','}${key}:${afterSign(value.values[i]!, texts[i]!)}`
  }
  return `${out}}`
}

function bareArray(value: readonly Value[], texts: readonly string[]): string {
  let out = '['
  for (let i = 0; i < texts.length; i++) {
    out += i === 0 ? texts[i]! : `,${afterSign(value[i]!, texts[i]!)}`
  }
  return `${out}]`
}

function jsonText(value: ObjectValue | readonly Value[], texts: readonly string[]): string {
  if (!(value instanceof ObjectValue)) return `[${texts.join(',')}]`
  let out = '{'
  for (let i = 0; i < texts.length; i++) {
    out += `${i === 0 ? '' : ','}${escapeText(value.keys[i]!)}:${texts[i]!}`
  }
  return `${out}}`
}

/** Represents a container in the text that its own brackets are counted by. */
export const CONTAINER = '0'

/** How a container is written in brackets, and the tokens of that without the containers in it. */
export interface BracketFrame {
  readonly asJson: boolean
  readonly tokens: number
}

/**
 * The brackets of a container, with or without quotes around everything, whichever costs less.
 * @param scalars the members that are no containers; `null` for the others
 */
export function bracketFrame(
  value: ObjectValue | readonly Value[],
  scalars: readonly (ScalarText | null)[],
  pricer: Pricer,
): BracketFrame {
  const keys = value instanceof ObjectValue ? value.keys : null
  let middles = 0
  let bare = keys === null ? '[' : '{'
  let json = bare
  for (let i = 0; i < scalars.length; i++) {
    const separator = i === 0 ? '' : ','
    const key = keys === null ? null : pricer.keyTexts(keys[i]!)
    bare += key === null ? separator : `${separator}${key.bare}:`
    json += key === null ? separator : `${separator}${key.json}:`
    const scalar = scalars[i]!
    if (scalar === null) {
      bare += CONTAINER
      json += CONTAINER
    } else {
      const text = inBrackets(scalar)
      const isString = scalar.bits !== NO_STRING
      bare += isString && (keys !== null || i > 0) && startsWithLetter(text) ? ` ${text}` : text
      json += isString ? scalar.quoted : text
      middles += scalar.middle
    }
  }
  bare += keys === null ? ']' : '}'
  json += keys === null ? ']' : '}'
  const bareTokens = pricer.tokens(bare)
  const jsonTokens = bare === json ? bareTokens : pricer.tokens(json)
  const asJson = jsonTokens <= bareTokens
  return { asJson, tokens: (asJson ? jsonTokens : bareTokens) + middles }
}

/**
 * The container in its brackets.
 * @param inner the texts of the members that are containers; `null` for a scalar
 */
export function inlinePiece(
  value: ObjectValue | readonly Value[],
  inner: readonly (Piece | null)[],
  { asJson, tokens }: BracketFrame,
  { style }: Pricer,
): Piece {
  const within = { tokens: 0, surcharge: 0 }
  for (const piece of inner) {
    if (piece === null) continue
    within.tokens += piece.tokens
    within.surcharge += piece.surcharge
  }
  return bracketPiece(tokens, () => writeBrackets(value, inner, asJson), style, within)
}

/** The text of an inline piece. */
function writeBrackets(
  value: ObjectValue | readonly Value[],
  inner: readonly (Piece | null)[],
  asJson: boolean,
): string {
  const members: readonly Value[] = value instanceof ObjectValue ? value.values : value
  const texts = members.map(
    (member, i) => inner[i]?.text ?? (asJson ? jsonScalar(member) : writeInline(member)),
  )
  if (asJson) return jsonText(value, texts)
  return value instanceof ObjectValue ? bareObject(value, texts) : bareArray(value, texts)
}

function jsonScalar(value: Value): string {
  return typeof value === 'string' ? escapeText(value) : writeJson(value)
}

/**
 * A string of several lines: unchanged between fences if that is cheaper, else in quotes. Returns
 * `null` for a string that fits a line.
 */
export function writeStringLines(
  text: string,
  scalar: ScalarText,
  pricer: Pricer,
): CountedText | null {
  if ((scalar.bits & LINE_FEED_BIT) === 0) return null
  const quoted = { text: escapeText(text), counted: scalar.quoted, middle: scalar.middle }
  if ((scalar.bits & UNSAFE_BIT) !== 0) return quoted
  const length = fenceLength(text)
  if (length > LONGEST_FENCE) return quoted
  const fence = FENCE_CHAR.repeat(length)
  const whole = `${fence}\n${text}\n${fence}`
  const { text: counted, middle } = shorten(whole, pricer)
  const isCheaper = pricer.tokens(counted) + middle < pricer.tokens(quoted.counted) + quoted.middle
  return isCheaper ? { text: whole, counted, middle } : quoted
}

/** One more than the longest run of the fence's character at the start of a line. */
function fenceLength(text: string): number {
  let longest = SHORTEST_FENCE - 1
  let at = 0
  do {
    let end = at
    while (text[end] === FENCE_CHAR) end++
    longest = Math.max(longest, end - at)
    at = text.indexOf('\n', end) + 1
  } while (at > 0)
  return longest + 1
}
