import { LINE_FEED } from '../../json/char-codes.ts'
import { addUses } from '../../reading/price.ts'
import type { TokenCounter } from '../../tokens/counter.ts'
import { formatId } from '../json/json-format.ts'
import { decodedTooLong, notDecodable } from '../not-decodable.ts'
import { innerTexts } from './inner-text.ts'
import type { TextFormat, TextTools, WrittenText } from './text-format.ts'

/**
 * What a program prints for a terminal. Each kind of escape sequence is a sign of one token, which
 * the first line explains. A carriage return begins a line with a sign, so that the states of a
 * progress bar are lines. The rest may be in a format of its own.
 * @param formats that the rest may have
 */
export function createTerminal(formats: readonly TextFormat[]): TextFormat {
  const byId = new Map(formats.map(format => [formatId(format), format]))
  return {
    id: 'terminal',
    version: 1,
    accepts: isForTerminal,
    steps: text => text.length * CHAR_STEPS,
    encode: (text, tools) => encode(text, formats, tools),
    decode: (content, style, maxChars) => decode(content, style, maxChars, byId),
  }
}

/** Steps of a character. */
const CHAR_STEPS = 40
/** Fewer are not worth their first line. */
const FEWEST = 4
/** Each is one token, and rare. */
const SIGNS = [...'§¤¶†¬±¦¿¡¢£¥©®ªº¹²³½¼¾']
/** The sign of a carriage return, at the start of a line. */
const RETURN_SIGN = '←'
const RETURN_NAME = '\\r'
const ESCAPE = '\u001b'
// biome-ignore lint/suspicious/noControlCharactersInRegex: sequences begin with one.
const SEQUENCES = /(?:\u001b\[[\d;?]{0,24}[A-Za-z])+/g
/** A sequence in the first line: without its escapes. */
const SEQUENCE_NAME = /^(?:\[[\d;?]{0,24}[A-Za-z])+$/
const STYLE_SEPARATOR = ','

function isForTerminal(text: string): boolean {
  let found = 0
  for (let at = text.indexOf(ESCAPE); at !== -1; at = text.indexOf(ESCAPE, at + 1)) {
    if (++found === FEWEST) return true
  }
  for (let at = text.indexOf('\r'); at !== -1; at = text.indexOf('\r', at + 1)) {
    if (text.charCodeAt(at + 1) !== LINE_FEED && ++found === FEWEST) return true
  }
  return false
}

/** The sequences that are worth a sign, by what they cost, and their signs. */
function signsOf(text: string, counter: TokenCounter): ReadonlyMap<string, string> {
  const counts = new Map<string, number>()
  for (const [sequence] of text.matchAll(SEQUENCES)) {
    counts.set(sequence, (counts.get(sequence) ?? 0) + 1)
  }
  const free = SIGNS.filter(sign => !text.includes(sign))
  const worth = [...counts]
    .filter(([, count]) => count > 1)
    .sort(([a, m], [b, n]) => n * b.length - m * a.length)
    .slice(0, free.length)
    .map(([sequence, count]) => ({ sequence, count, tokens: counter.count(sequence) }))
    .filter(({ count, tokens }) => count * (tokens - 1) > tokens + SIGN_TOKENS)
  return new Map(worth.map(({ sequence }, at) => [sequence, free[at]!]))
}

/** Tokens of a sign, `=` and a space in the first line. */
const SIGN_TOKENS = 3

function encode(
  text: string,
  formats: readonly TextFormat[],
  tools: TextTools,
): readonly WrittenText[] {
  const signs = signsOf(text, tools.counter)
  const legend = [...signs].map(([sequence, sign]) => `${sign}=${sequence.replaceAll(ESCAPE, '')}`)
  let rest = text.replaceAll(SEQUENCES, sequence => signs.get(sequence) ?? sequence)
  if (!text.includes(RETURN_SIGN) && hasReturn(text)) {
    rest = rest.replaceAll(/\r(?!\n)/g, `\n${RETURN_SIGN}`)
    legend.push(`${RETURN_SIGN}=${RETURN_NAME}`)
  }
  if (legend.length === 0) return []
  const head = legend.join(' ')
  const own = { sign: legend.length }
  const written = innerTexts(rest, formats, tools)
    .filter(inner => inner.restores())
    .map(({ content, format, uses }) => ({
      content: `${head}\n${content}`,
      style: format.replace(';', STYLE_SEPARATOR),
      uses: addUses(own, uses),
    }))
  return [{ content: `${head}\n${rest}`, style: '', uses: own }, ...written]
}

function hasReturn(text: string): boolean {
  for (let at = text.indexOf('\r'); at !== -1; at = text.indexOf('\r', at + 1)) {
    if (text.charCodeAt(at + 1) !== LINE_FEED) return true
  }
  return false
}

function decode(
  content: string,
  style: string,
  maxChars: number,
  byId: ReadonlyMap<string, TextFormat>,
): string {
  const end = content.indexOf('\n')
  const legend = readLegend(content.slice(0, Math.max(0, end)))
  if (legend === undefined) throw notDecodable(content, 0, 'a line of signs expected')
  const rest = readRest(content.slice(end + 1), style, maxChars, byId)
  if (rest === undefined) throw notDecodable(content, 0, 'no known style of a terminal')
  const { sequences, hasReturns } = legend
  const signed = hasReturns ? rest.replaceAll(`\n${RETURN_SIGN}`, '\r') : rest
  let length = signed.length
  for (const char of signed) length += (sequences.get(char)?.length ?? 1) - 1
  if (length > maxChars) throw decodedTooLong(maxChars)
  return signed.replaceAll(ANY_SIGN, sign => sequences.get(sign) ?? sign)
}

const ANY_SIGN = new RegExp(`[${SIGNS.join('')}]`, 'g')

interface Legend {
  readonly sequences: ReadonlyMap<string, string>
  readonly hasReturns: boolean
}

/** The signs that the first line explains; `undefined` if it explains others. */
function readLegend(line: string): Legend | undefined {
  const sequences = new Map<string, string>()
  let hasReturns = false
  for (const word of line.split(' ')) {
    const [sign = '', name = ''] = [word.slice(0, 1), word.slice(2)]
    if (word[1] !== '=') return undefined
    if (sign === RETURN_SIGN && name === RETURN_NAME) hasReturns = true
    else if (SIGNS.includes(sign) && SEQUENCE_NAME.test(name)) {
      sequences.set(sign, name.replaceAll('[', `${ESCAPE}[`))
    } else return undefined
  }
  return { sequences, hasReturns }
}

/** What is below the first line; `undefined` for an unknown format. */
function readRest(
  body: string,
  style: string,
  maxChars: number,
  byId: ReadonlyMap<string, TextFormat>,
): string | undefined {
  if (style === '') return body
  const at = style.indexOf(STYLE_SEPARATOR)
  const format = byId.get(at === -1 ? style : style.slice(0, at))
  // A carriage return is two characters there.
  return format?.decode(body, at === -1 ? '' : style.slice(at + 1), maxChars * 2)
}
