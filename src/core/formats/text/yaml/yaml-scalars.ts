import { parseNumber } from '../../../json/parse-number.ts'
import { NumberLiteral, type Value } from '../../../json/value.ts'
import { COMMENT_KEY, type Quote, type QuoteRule, SOURCE_MARK } from './yaml-layout.ts'

/** A value that is neither an object nor a list. */
export type YamlScalar = null | boolean | number | NumberLiteral | string

/** What some version of YAML reads as something else than a string. */
const UNLIKE_STRING = new RegExp(
  [
    '|~|<<|=|null|true|false|yes|no|on|off|y|n',
    '[-+]?\\.(?:inf|nan)',
    '[-+]?\\.?\\d[\\d_]*(?:\\.[\\d_]*)?(?:e[-+]?\\d+)?',
    '[-+]?0[xob][\\da-f_]+',
    '[-+]?\\d+(?::\\d+)+(?:\\.\\d*)?',
    '\\d{4}-\\d\\d?-\\d\\d?(?:[t ].*)?',
  ]
    .map(form => `^(?:${form})$`)
    .join('|'),
  'i',
)

/** Signs that a plain scalar cannot begin with. */
const INDICATOR = /^[,[\]{}#&*!|>'"%@`]/
/** The same, if nothing or a space follows. */
const LONE_INDICATOR = /^[-?:](?:\s|$)/
/** What ends a plain scalar, or is not kept in one. */
const ENDS_PLAIN = /: |:$| #|^\s|\s$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: they have to be escaped.
const CONTROL = /[\u0000-\u001f\u007f\ufeff]/

/** The longest text that is looked at as a number or a date. */
const MOST_UNLIKE_CHARS = 64

function isUnlikeString(text: string): boolean {
  return text.length <= MOST_UNLIKE_CHARS && UNLIKE_STRING.test(text)
}

function isPlainSafe(text: string): boolean {
  return !INDICATOR.test(text) && !LONE_INDICATOR.test(text) && !ENDS_PLAIN.test(text)
}

/** A string of one line in the source, by the rule of the layout. */
function spellString(text: string, rule: QuoteRule): string {
  const hasControl = CONTROL.test(text)
  if (isUnlikeString(text)) return quoted(text, rule.unlike)
  if (!hasControl && isPlainSafe(text)) return quoted(text, rule.safe)
  return quoted(text, hasControl ? 'd' : rule.unsafe)
}

/** A key in the source. Keys have no quotes if they can. */
export function spellKey(key: string, rule: QuoteRule): string {
  if (key.startsWith(SOURCE_MARK)) return key.slice(SOURCE_MARK.length)
  return spellString(key, { ...rule, safe: 'n' })
}

/** A scalar in the source; strings of several lines that are no source are for the writer. */
export function spellScalar(value: YamlScalar, rule: QuoteRule): string {
  if (typeof value !== 'string') return value instanceof NumberLiteral ? value.text : String(value)
  if (value.startsWith(SOURCE_MARK)) return value.slice(SOURCE_MARK.length)
  return spellString(value, rule)
}

function quoted(text: string, quote: Quote): string {
  if (quote === 'n') return text
  if (quote === 's') return `'${text.replaceAll("'", "''")}'`
  return JSON.stringify(text)
}

/** The value of a scalar in the source, or the source itself after the mark. */
export function readScalar(source: string, rule: QuoteRule): YamlScalar {
  if (source === 'null') return null
  if (source === 'true') return true
  if (source === 'false') return false
  const number = parseNumber(source, 0, source.length)
  if (number !== undefined) return number
  const text = textOf(source)
  const isKept =
    text !== undefined && !text.startsWith(SOURCE_MARK) && spellString(text, rule) === source
  return isKept ? text : SOURCE_MARK + source
}

/** The key of such a source. */
export function readKey(source: string, rule: QuoteRule): string {
  const text = textOf(source)
  const isKept =
    text !== undefined &&
    text !== COMMENT_KEY &&
    !text.startsWith(SOURCE_MARK) &&
    spellKey(text, rule) === source
  return isKept ? text : SOURCE_MARK + source
}

/** Without quotes; `undefined` if these do not fit. */
function textOf(source: string): string | undefined {
  const first = source[0]
  if (first === "'") {
    return source.length > 1 && source.endsWith("'")
      ? source.slice(1, -1).replaceAll("''", "'")
      : undefined
  }
  if (first !== '"') return source
  try {
    const text: unknown = JSON.parse(source)
    return typeof text === 'string' ? text : undefined
  } catch {
    return undefined
  }
}

/** How quotes are used in a text: which strings have which. */
export function countQuotes(): { add(source: string): void; rule(): QuoteRule } {
  const counts = { safe: { n: 0, d: 0, s: 0 }, unlike: { d: 0, s: 0 }, unsafe: { d: 0, s: 0 } }
  return {
    add(source) {
      const quote = source[0] === "'" ? 's' : source[0] === '"' ? 'd' : undefined
      if (quote === undefined) {
        counts.safe.n++
        return
      }
      const text = textOf(source)
      if (text === undefined) return
      if (isUnlikeString(text)) counts.unlike[quote]++
      else if (!isPlainSafe(text)) counts.unsafe[quote]++
      else counts.safe[quote]++
    },
    rule() {
      const { safe, unlike, unsafe } = counts
      const most = (of: { d: number; s: number }) => (of.s > of.d ? 's' : 'd')
      return {
        safe: Math.max(safe.d, safe.s) > safe.n ? most(safe) : 'n',
        unlike: unlike.d + unlike.s === 0 ? most(unsafe) : most(unlike),
        unsafe: unsafe.d + unsafe.s === 0 ? most(unlike) : most(unsafe),
      }
    },
  }
}

/** Whether a value may stand in the brackets of a list of scalars. */
export function isFlowScalar(value: Value, rule: QuoteRule): boolean {
  if (typeof value === 'object' && value !== null && !(value instanceof NumberLiteral)) return false
  if (typeof value === 'string' && (value.startsWith(SOURCE_MARK) || value.includes('\n')))
    return false
  return !FLOW_SIGN.test(spellScalar(value as YamlScalar, rule))
}

const FLOW_SIGN = /[,[\]{}]/
