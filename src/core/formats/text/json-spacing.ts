import { LINE_FEED, SPACE, TAB } from '../../json/char-codes.ts'
import { NumberLiteral, ObjectValue, type Value } from '../../json/value.ts'

/** White space after a comma and a colon, and before each member; `null` for one line. */
interface Spacing {
  readonly comma: string
  readonly colon: string
  readonly indent: string | null
}

const ONE_LINE: Readonly<Record<string, Spacing>> = {
  /** `JSON.stringify(value)`, Go's and Rust's encoders. */
  compact: { comma: ',', colon: ':', indent: null },
  /** `json.dumps(value)`. */
  python: { comma: ', ', colon: ': ', indent: null },
}
const MAX_INDENT = 8
const INDENTED = Object.fromEntries(
  ['\t', ...Array.from({ length: MAX_INDENT }, (_, i) => ' '.repeat(i + 1))].map(indent => [
    indent === '\t' ? 'tab' : `indent${indent.length}`,
    { comma: ',', colon: ': ', indent },
  ]),
)
const SPACINGS: ReadonlyMap<string, Spacing> = new Map(Object.entries({ ...ONE_LINE, ...INDENTED }))

/**
 * Characters that encoders escape although JSON does not require it, by name. `''`: none. `ascii`:
 * all beyond ASCII, as Python does. `html`: those with a meaning in HTML, as Go does.
 */
const ESCAPES: ReadonlyMap<string, RegExp | null> = new Map([
  ['', null],
  ['ascii', /[\u007f-\uffff]/g],
  ['html', /[<>&\u2028\u2029]/g],
])

/**
 * How a program wrote its JSON: the white space between tokens, and what it escaped in strings. A
 * word such as `compact`, `python`, `indent2`, `tab` or `python-ascii`, with which
 * `writeSpacedJson` gives the source again; `undefined` if there is none. Linear.
 * @param source a JSON text without white space at its ends; its value is `value`
 */
export function findSpacing(source: string, value: Value): string | undefined {
  const names = source.charCodeAt(1) === LINE_FEED ? [indentName(source)] : Object.keys(ONE_LINE)
  for (const name of names) {
    for (const [escapes, escaped] of ESCAPES) {
      const spacing = SPACINGS.get(name)
      if (spacing === undefined) continue
      let at = 0
      const matches = (part: string): boolean => {
        if (!source.startsWith(part, at)) return false
        at += part.length
        return true
      }
      if (write(value, spacing, escaped, matches) && at === source.length) {
        return escapes === '' ? name : `${name}-${escapes}`
      }
    }
  }
  return undefined
}

/**
 * The value as JSON in this spacing, numbers in their own spelling; `undefined` for an unknown
 * word, or if the text would be longer than `maxChars`.
 */
export function writeSpacedJson(value: Value, word: string, maxChars: number): string | undefined {
  const [name = '', escapes = ''] = word.split('-')
  const spacing = SPACINGS.get(name)
  const escaped = ESCAPES.get(escapes)
  if (spacing === undefined || escaped === undefined) return undefined
  let out = ''
  const fits = write(value, spacing, escaped, part => {
    out += part
    return out.length <= maxChars
  })
  return fits ? out : undefined
}

function indentName(source: string): string {
  if (source.charCodeAt(2) === TAB) return 'tab'
  let spaces = 0
  while (spaces <= MAX_INDENT && source.charCodeAt(2 + spaces) === SPACE) spaces++
  return `indent${spaces}`
}

type Container = ObjectValue | readonly Value[]

interface Frame {
  readonly container: Container
  at: number
}

/**
 * Passes the text part by part to `put`, until that returns `false`. Returns whether it never did.
 * Without recursion.
 */
function write(
  root: Value,
  { comma, colon, indent }: Spacing,
  escaped: RegExp | null,
  put: (part: string) => boolean,
): boolean {
  const quote = (text: string): string => {
    const json = JSON.stringify(text)
    return escaped === null ? json : json.replace(escaped, unicodeEscape)
  }
  const scalar = (value: Exclude<Value, Container>): string => {
    if (typeof value === 'string') return quote(value)
    return value instanceof NumberLiteral ? value.text : String(value)
  }
  const lineBreak = (levels: number): string =>
    indent === null ? '' : `\n${indent.repeat(levels)}`
  if (!isContainer(root)) return put(scalar(root))
  const waiting: Frame[] = [{ container: root, at: 0 }]
  for (let frame = waiting.at(-1); frame !== undefined; frame = waiting.at(-1)) {
    const { container, at } = frame
    const isObject = container instanceof ObjectValue
    const values: readonly Value[] = isObject ? container.values : container
    let part = at === 0 ? (isObject ? '{' : '[') : ''
    if (at === values.length) {
      if (at > 0) part += lineBreak(waiting.length - 1)
      waiting.pop()
      if (!put(part + (isObject ? '}' : ']'))) return false
      continue
    }
    if (at > 0) part += comma
    part += lineBreak(waiting.length)
    if (isObject) part += quote(container.keys[at]!) + colon
    const member = values[at]!
    frame.at++
    if (isContainer(member)) waiting.push({ container: member, at: 0 })
    else part += scalar(member)
    if (!put(part)) return false
  }
  return true
}

function unicodeEscape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function isContainer(value: Value): value is Container {
  return value instanceof ObjectValue || Array.isArray(value)
}
