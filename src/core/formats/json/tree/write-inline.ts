import { typedText } from '../../../base/typed-text.ts'
import { ObjectValue, type Value } from '../../../json/value.ts'
import { escapeText } from '../../bare-text.ts'
import { LINE_FEED_BIT, UNSAFE_BIT } from '../../text-content.ts'
import { bracketPiece, type KeyTexts, type Pricer, type ShapeWriter } from './pricer.ts'
import {
  type CountedText,
  inBrackets,
  NO_STRING,
  quotedText,
  type ScalarText,
  shorten,
  writtenText,
} from './scalar-text.ts'
import {
  FENCE_CHAR,
  LONGEST_FENCE,
  NOT_IN_INLINE_KEY,
  NOT_INLINE,
  SHORTEST_FENCE,
} from './syntax.ts'
import type { Piece } from './trace.ts'
import { isScalar, type Scalar, writeScalar, writeText } from './write-text.ts'

/**
 * Any value in brackets, as in JSON but without the quotes that are not needed: `{a: x,b:[1,
 * two]}`. Words have a space before them if it is part of the word's token. Recursion is as deep as
 * the value.
 * @param shapes writes the objects that have a declared shape
 */
export function writeInline(value: Value, shapes?: ShapeWriter): string {
  if (isScalar(value)) return writeScalar(value, NOT_INLINE)
  if (value instanceof ObjectValue) return shapes?.write(value) ?? writeBraces(value, shapes)
  let out = '['
  for (let i = 0; i < value.length; i++) {
    const text = writeInline(value[i]!, shapes)
    out += i === 0 ? text : `,${afterSign(value[i]!, text)}`
  }
  return `${out}]`
}

/** An object in braces. Those inside it may have a shape. */
export function writeBraces(value: ObjectValue, shapes?: ShapeWriter): string {
  let out = '{'
  for (let i = 0; i < value.values.length; i++) {
    const member = value.values[i]!
    const key = writeText(value.keys[i]!, NOT_IN_INLINE_KEY)
    out += `${i === 0 ? '' : ','}${key}:${afterSign(member, writeInline(member, shapes))}`
  }
  return `${out}}`
}

/**
 * A value as it is written after a colon or comma: with a space in front of strings that begin with
 * a letter. Literals need none, `:true` and `,null` are tokens themselves.
 */
export function afterSign(value: Value, text: string): string {
  return typeof value === 'string' && startsWithLetter(text) ? ` ${text}` : text
}

function startsWithLetter(text: string): boolean {
  const lower = typedText(text).charCodeAt(0) | 0x20
  return lower >= 0x61 && lower <= 0x7a
}

/** Represents a container in the text that its own brackets are counted by. */
export const CONTAINER = '0'

/** How a container is written in brackets, and the tokens of that without the containers in it. */
export interface BracketFrame {
  readonly asJson: boolean
  readonly tokens: number
}

/** The own text of a container in brackets, as it is counted, without the middles of strings. */
export interface BracketTexts {
  readonly bare: string
  /** With quotes around everything. */
  readonly json: string
  /** Tokens of the middles. */
  readonly middles: number
}

/** What the brackets of a container are made of. */
export interface Bracketed {
  /** The members that are no containers; `null` for the others. */
  readonly scalars: readonly (ScalarText | null)[]
  /** `null` for a list. */
  readonly keys: readonly KeyTexts[] | null
}

export function bracketTexts({ keys, scalars }: Bracketed): BracketTexts {
  let middles = 0
  let bare = keys === null ? '[' : '{'
  let json = bare
  for (let i = 0; i < scalars.length; i++) {
    const separator = i === 0 ? '' : ','
    const key = keys === null ? null : keys[i]!
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
  return {
    bare: bare + (keys === null ? ']' : '}'),
    json: json + (keys === null ? ']' : '}'),
    middles,
  }
}

/** A container that has a form on one line. */
interface Inline {
  readonly inline: Piece
}

/**
 * The container in its brackets.
 * @param inner the members that are containers; `null` for a scalar
 */
export function inlinePiece(
  value: ObjectValue | readonly Value[],
  draft: Bracketed & { readonly brackets: BracketFrame },
  inner: readonly (Inline | null)[],
  { style }: Pricer,
): Piece {
  const within = { tokens: 0, surcharge: 0 }
  for (let i = 0; i < inner.length; i++) {
    const forms = inner[i]!
    if (forms === null) continue
    within.tokens += forms.inline.tokens
    within.surcharge += forms.inline.surcharge
  }
  const { asJson, tokens } = draft.brackets
  return bracketPiece(tokens, () => writeBrackets(value, draft, inner, asJson), style, within)
}

/** The text of an inline piece. */
function writeBrackets(
  value: ObjectValue | readonly Value[],
  { keys, scalars }: Bracketed,
  inner: readonly (Inline | null)[],
  asJson: boolean,
): string {
  const members: readonly Value[] = value instanceof ObjectValue ? value.values : value
  let out = keys === null ? '[' : '{'
  for (let i = 0; i < members.length; i++) {
    const member = members[i]!
    const scalar = scalars[i]!
    if (i > 0) out += ','
    if (keys !== null) out += `${asJson ? keys[i]!.json : keys[i]!.bare}:`
    if (scalar === null) out += inner[i]!.inline.text
    else if (asJson) out += quotedText(member as Scalar, scalar)
    else {
      const { text } = writtenText(member as Scalar, scalar, NOT_INLINE)
      out += keys === null && i === 0 ? text : afterSign(member, text)
    }
  }
  return out + (keys === null ? ']' : '}')
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
