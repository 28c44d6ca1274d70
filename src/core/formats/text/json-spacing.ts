import { LINE_FEED, SPACE, TAB } from '../../json/char-codes.ts'
import type { Value } from '../../json/value.ts'
import { isEscapes, possibleEscapes } from './json-escapes.ts'
import { findLayout, isWritten } from './layout/find-layout.ts'
import { type KindLayout, type Layout, LINE_BREAK, NO_GAP, styleOf } from './layout/layout.ts'
import { readLayoutWord } from './layout/layout-word.ts'
import { writeLayout } from './layout/write-layout.ts'

const MAX_INDENT = 8
const NAMED: ReadonlyMap<string, Layout> = new Map([
  /** `JSON.stringify(value)`, Go's and Rust's encoders. */
  ['compact', oneLine(NO_GAP)],
  /** `json.dumps(value)`. */
  ['python', oneLine(1)],
  ['tab', indented('\t')],
  ...Array.from({ length: MAX_INDENT }, (_, at): [string, Layout] => [
    `indent${at + 1}`,
    indented(' '.repeat(at + 1)),
  ]),
])

/** @param blanks after commas and colons */
function oneLine(blanks: number): Layout {
  return sameLayout('', styleOf(NO_GAP, blanks, NO_GAP, 0), styleOf(NO_GAP, blanks, NO_GAP, blanks))
}

function indented(unit: string): Layout {
  const arrays = styleOf(LINE_BREAK, LINE_BREAK, LINE_BREAK, 0)
  return sameLayout(unit, arrays, styleOf(LINE_BREAK, LINE_BREAK, LINE_BREAK, 1))
}

/** The layout of all arrays and objects, empty ones aside. */
function sameLayout(unit: string, array: number, object: number): Layout {
  const kind = (style: number): KindLayout => ({ empty: NO_GAP, styles: [style], width: 0 })
  return {
    unit,
    lineEnd: '\n',
    arrays: kind(array),
    objects: kind(object),
    byKey: false,
    exceptions: new Map(),
    emptyLines: new Map(),
    escapes: '',
  }
}

/** Line ends after the JSON, and how its spacing begins then. */
const ENDS: readonly (readonly [string, string])[] = [
  ['\r\n', 'endedr_'],
  ['\n', 'ended_'],
  ['', ''],
]

/**
 * How a program wrote its JSON: the white space between tokens, and what it escaped in strings. A
 * word such as `compact`, `python`, `indent2`, `tab` or `python-ascii`, or the word of a layout.
 * `ended_` comes before it if the text ends with a line feed. `writeSpacedJson` gives the text
 * again; `undefined` if there is no such word. Linear.
 * @param text JSON that begins with a bracket; its value is `value`
 */
export function findSpacing(text: string, value: Value): string | undefined {
  const [end, word] = ENDS.find(([end]) => text.endsWith(end))!
  const source = end === '' ? text : text.slice(0, -end.length)
  const spacing = findNamedSpacing(source, value) ?? findLayout(source, value)
  return spacing === undefined ? undefined : word + spacing
}

/**
 * The same for those words that do not depend on the value: all JSON of a program has the same one.
 * @param source has no line feed at its end
 */
export function findNamedSpacing(source: string, value: Value): string | undefined {
  const names = source.charCodeAt(1) === LINE_FEED ? [indentName(source)] : ['compact', 'python']
  const allEscapes = possibleEscapes(source)
  for (const name of names) {
    const layout = NAMED.get(name)
    if (layout === undefined) continue
    for (const escapes of allEscapes) {
      if (!isWritten(source, value, { ...layout, escapes })) continue
      return escapes === '' ? name : `${name}-${escapes}`
    }
  }
  return undefined
}

function indentName(source: string): string {
  if (source.charCodeAt(2) === TAB) return 'tab'
  let spaces = 0
  while (spaces <= MAX_INDENT && source.charCodeAt(2 + spaces) === SPACE) spaces++
  return `indent${spaces}`
}

/** Whether there is such a spacing. */
export function isSpacing(word: string): boolean {
  return readSpacing(word) !== undefined
}

function readSpacing(word: string): { layout: Layout; end: string } | undefined {
  const [end, begin] = ENDS.find(([, begin]) => word.startsWith(begin))!
  const spacing = word.slice(begin.length)
  const [name = '', escapes = ''] = spacing.split('-')
  const named = NAMED.get(name)
  const layout = named === undefined ? readLayoutWord(spacing) : { ...named, escapes }
  return layout !== undefined && isEscapes(layout.escapes) ? { layout, end } : undefined
}

/**
 * The value as JSON in this spacing, numbers in their own spelling; `undefined` for an unknown
 * word, or if the text would be longer than `maxChars`.
 */
export function writeSpacedJson(value: Value, word: string, maxChars: number): string | undefined {
  const spacing = readSpacing(word)
  if (spacing === undefined) return undefined
  const { layout, end } = spacing
  let out = ''
  const fits = writeLayout(value, layout, part => {
    out += part
    return out.length + end.length <= maxChars
  })
  return fits ? out + end : undefined
}
