import { ObjectValue, type Value } from '../../../json/value.ts'
import { quoteJson, writeJson } from '../../../json/write-json.ts'
import { escapeText } from '../../bare-text.ts'
import { contentOf, LINE_FEED_BIT, UNSAFE_BIT } from '../../text-content.ts'
import { bracketSurcharge, type Pricer } from './pricer.ts'
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
 */
export function writeInline(value: Value): string {
  if (isScalar(value)) return writeScalar(value, NOT_INLINE)
  if (value instanceof ObjectValue) {
    return bareObject(value, value.values.map(writeInline))
  }
  return bareArray(value, value.map(writeInline))
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

function jsonObject(value: ObjectValue, texts: readonly string[]): string {
  let out = '{'
  for (let i = 0; i < texts.length; i++) {
    out += `${i === 0 ? '' : ','}${quoteText(value.keys[i]!)}:${texts[i]!}`
  }
  return `${out}}`
}

function quoteText(text: string): string {
  return quoteJson(text).replaceAll('\ufeff', '\\ufeff')
}

/**
 * The container in brackets, with or without quotes around everything, whichever costs less. @param
 * inner the texts of the members that are containers; `null` for a scalar
 */
export function inlinePiece(
  value: ObjectValue | readonly Value[],
  inner: readonly (Piece | null)[],
  pricer: Pricer,
): Piece {
  const members: readonly Value[] = value instanceof ObjectValue ? value.values : value
  let [tokens, surcharge] = [0, 0]
  for (const piece of inner) {
    if (piece === null) continue
    tokens += piece.tokens
    surcharge += piece.surcharge
  }
  const write = (scalar: (member: Value) => string, quoted: boolean, whole: boolean): string => {
    const texts = members.map((member, i) => {
      const piece = inner[i]
      return piece === null || piece === undefined ? scalar(member) : whole ? piece.text : '0'
    })
    if (!(value instanceof ObjectValue))
      return quoted ? `[${texts.join(',')}]` : bareArray(value, texts)
    return quoted ? jsonObject(value, texts) : bareObject(value, texts)
  }
  const flat = inner.every(piece => piece === null)
  const bare = write(bareScalar, false, false)
  const json = write(jsonScalar, true, false)
  const bareTokens = pricer.tokens(bare)
  const jsonTokens = bare === json ? bareTokens : pricer.tokens(json)
  const asJson = jsonTokens <= bareTokens
  const own = asJson ? jsonTokens : bareTokens
  const cheap = asJson ? json : bare
  const text = flat
    ? cheap
    : asJson
      ? write(jsonScalar, true, true)
      : write(bareScalar, false, true)
  surcharge += bracketSurcharge(text, own, pricer.style)
  return { text, tokens: tokens + own, surcharge }
}

function bareScalar(value: Value): string {
  return isScalar(value) ? writeScalar(value, NOT_INLINE) : ''
}

function jsonScalar(value: Value): string {
  return typeof value === 'string' ? quoteText(value) : writeJson(value)
}

/**
 * A string of several lines: unchanged between fences if that is cheaper, else in quotes. Returns
 * `null` for a string that fits a line.
 */
export function writeStringLines(text: string, pricer: Pricer): string | null {
  const content = contentOf(text)
  if ((content & LINE_FEED_BIT) === 0) return null
  const quoted = escapeText(text)
  if ((content & UNSAFE_BIT) !== 0) return quoted
  const length = fenceLength(text)
  if (length > LONGEST_FENCE) return quoted
  const fence = FENCE_CHAR.repeat(length)
  const fenced = `${fence}\n${text}\n${fence}`
  return pricer.tokens(fenced) < pricer.tokens(quoted) ? fenced : quoted
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
