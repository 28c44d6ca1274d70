import { gapsOf, type KindLayout, type Layout, type Style, styleOf } from './layout.ts'

const ARRAYS = /([01nt])((?:[01nt]{3}){0,4})(w\d{0,3})?/.source
const OBJECTS = /([01nt])((?:[01nt]{3}[0-3]){0,4})(w\d{0,3})?/.source
const EXCEPTIONS = /(?:-([xk])((?:\d{0,7}[A-D])*))?/.source
const EMPTY_LINES = /(?:-b(\d{1,7}(?:_\d{1,7})*))?/.source
const ESCAPES = /(?:-([a-z]+))?/.source

/**
 * A layout as a word of the style of a format. It has letters and digits, `_` and `-`, and no
 * spacing of an older version begins like it:
 *
 * `layout2-0nnn010w80-0nnn11111w0-x3B-b5_8-ascii`
 *
 * First the blanks of a level (`t` for a tab), with `r` if lines end with CR LF. Then arrays and
 * objects: the gap of empty ones, the styles, and the width. A style is its gaps after the opening
 * bracket, after commas and before the closing bracket, for objects also around colons. Then
 * exceptions: `x` by width, `k` by key, each after the number of containers without one. Then
 * empty lines, each after the number of line breaks without one, and the escapes.
 */
const WORD = new RegExp(
  `^layout([0-8t])(r?)-${ARRAYS}-${OBJECTS}${EXCEPTIONS}${EMPTY_LINES}${ESCAPES}$`,
)

const GAPS = '01nt'
const STYLE_NAMES = 'ABCD'

export function writeLayoutWord(layout: Layout): string {
  const { unit, lineEnd, arrays, objects, byKey, exceptions, emptyLines, escapes } = layout
  const words = [
    `layout${unit === '\t' ? 't' : unit.length}${lineEnd === '\n' ? '' : 'r'}`,
    kindWord(arrays, false),
    kindWord(objects, true),
  ]
  if (byKey || exceptions.size > 0) {
    const named = gapsBetween(exceptions.keys())
    const styles = [...exceptions.values()]
    const parts = named.map((gap, at) => `${gap === 0 ? '' : gap}${STYLE_NAMES[styles[at]!]}`)
    words.push(`${byKey ? 'k' : 'x'}${parts.join('')}`)
  }
  if (emptyLines.size > 0) {
    const places = [...emptyLines].flatMap(([at, lines]) => Array<number>(lines).fill(at))
    const gaps = places.map((place, at) => place - (places[at - 1] ?? 0))
    words.push(`b${gaps.join('_')}`)
  }
  if (escapes !== '') words.push(escapes)
  return words.join('-')
}

function kindWord({ empty, styles, width }: KindLayout, isObject: boolean): string {
  const codes = styles.map(style => {
    const { open, comma, close, colon } = gapsOf(style)
    return GAPS[open]! + GAPS[comma]! + GAPS[close]! + (isObject ? colon : '')
  })
  const limit = styles.length < 2 ? '' : width === Number.POSITIVE_INFINITY ? 'w' : `w${width}`
  return GAPS[empty] + codes.join('') + limit
}

/** How many numbers are left out before each. */
function gapsBetween(numbers: Iterable<number>): number[] {
  let next = 0
  return Array.from(numbers, number => {
    const gap = number - next
    next = number + 1
    return gap
  })
}

/** The layout of a word; `undefined` if it is none. */
export function readLayoutWord(word: string): Layout | undefined {
  const match = WORD.exec(word)
  if (match === null) return undefined
  const [, level = '', cr, arrayGap, arrayCodes, arrayWidth, objectGap, objectCodes, objectWidth] =
    match
  const [mode, named = '', places, escapes = ''] = match.slice(9)
  const arrays = readKind(arrayGap!, arrayCodes!, arrayWidth, 3)
  const objects = readKind(objectGap!, objectCodes!, objectWidth, 4)
  if (arrays === undefined || objects === undefined) return undefined
  return {
    unit: level === 't' ? '\t' : ' '.repeat(Number(level)),
    lineEnd: cr === 'r' ? '\r\n' : '\n',
    arrays,
    objects,
    byKey: mode === 'k',
    exceptions: readExceptions(named),
    emptyLines: readPlaces(places),
    escapes,
  }
}

function readKind(
  gap: string,
  codes: string,
  width: string | undefined,
  length: number,
): KindLayout | undefined {
  const styles: Style[] = []
  for (let at = 0; at < codes.length; at += length) {
    const [open, comma, close] = Array.from(codes.slice(at, at + 3), code => GAPS.indexOf(code))
    styles.push(styleOf(open!, comma!, close!, length === 4 ? Number(codes[at + 3]) : 0))
  }
  if ((width !== undefined) !== styles.length > 1) return undefined
  const columns = width === 'w' ? Number.POSITIVE_INFINITY : Number(width?.slice(1) ?? 0)
  return { empty: GAPS.indexOf(gap), styles, width: columns }
}

function readExceptions(named: string): ReadonlyMap<number, number> {
  const exceptions = new Map<number, number>()
  let next = 0
  for (const [, gap, name] of named.matchAll(/(\d*)([A-D])/g)) {
    next += Number(gap)
    exceptions.set(next++, STYLE_NAMES.indexOf(name!))
  }
  return exceptions
}

function readPlaces(places: string | undefined): ReadonlyMap<number, number> {
  const lines = new Map<number, number>()
  if (places === undefined) return lines
  let place = 0
  for (const gap of places.split('_')) {
    place += Number(gap)
    lines.set(place, (lines.get(place) ?? 0) + 1)
  }
  return lines
}
