import {
  BACKSLASH,
  CARRIAGE_RETURN,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  LINE_FEED,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
  TAB,
} from '../../../json/char-codes.ts'
import {
  BLANK,
  BLANK_AND_BREAK,
  BLANK_COLON,
  COLON_BLANK,
  type Gap,
  LINE_BREAK,
  NO_GAP,
} from './layout.ts'

/** A container that is not empty, as it stands in the source. */
export interface SeenContainer {
  readonly isObject: boolean
  /** Characters before it on its line. */
  readonly column: number
  open: Gap
  /** `UNKNOWN` with a single member. */
  comma: Gap
  close: Gap
  colon: number
}

/** The gaps of a JSON text. */
export interface SeenGaps {
  readonly containers: readonly SeenContainer[]
  readonly unit: string
  readonly lineEnd: string
  readonly emptyArray: Gap
  readonly emptyObject: Gap
  /** By the number of a line break. */
  readonly emptyLines: ReadonlyMap<number, number>
}

export const UNKNOWN = -1

/** Blanks of a level at most. */
const MAX_UNIT = 8

/** What came before a gap. */
const OPENER = 0
const AFTER_COMMA = 1
const AFTER_COLON = 2
const VALUE = 3

/**
 * The gaps of each container; `undefined` if a gap is no blank and no line break, or if those of a
 * container differ. Indentation is not checked. Linear.
 * @param source JSON without white space at its ends
 */
export function scanGaps(source: string): SeenGaps | undefined {
  const gaps = new GapReader(source)
  const containers: SeenContainer[] = []
  const open: SeenContainer[] = []
  let top: SeenContainer | undefined
  let emptyArray = UNKNOWN
  let emptyObject = UNKNOWN
  let before = VALUE
  let blankBeforeColon = 0
  while (gaps.at < source.length) {
    const gap = gaps.next()
    if (gap === undefined) return undefined
    const c = source.charCodeAt(gaps.at)
    const isCloser = c === CLOSE_BRACE || c === CLOSE_BRACKET
    if (top !== undefined && before === OPENER) {
      if (!isCloser) top.open = gap
    } else if (top !== undefined && before === AFTER_COMMA) {
      if (top.comma === UNKNOWN) top.comma = gap
      else if (top.comma !== gap) return undefined
    } else if (top !== undefined && before === AFTER_COLON) {
      const colon = blankBeforeColon | (gap === BLANK ? COLON_BLANK : 0)
      if (gap > BLANK || (top.colon !== UNKNOWN && top.colon !== colon)) return undefined
      top.colon = colon
    }
    if (c === OPEN_BRACE || c === OPEN_BRACKET) {
      top = {
        isObject: c === OPEN_BRACE,
        column: gaps.column,
        open: NO_GAP,
        comma: UNKNOWN,
        close: NO_GAP,
        colon: UNKNOWN,
      }
      open.push(top)
      containers.push(top)
      gaps.at++
      before = OPENER
    } else if (isCloser) {
      if (before !== OPENER) top!.close = gap
      else {
        containers.pop()
        const known = c === CLOSE_BRACE ? emptyObject : emptyArray
        if (known !== UNKNOWN && known !== gap) return undefined
        if (c === CLOSE_BRACE) emptyObject = gap
        else emptyArray = gap
      }
      open.pop()
      top = open.at(-1)
      gaps.at++
      before = VALUE
    } else if (c === COMMA) {
      if (gap !== NO_GAP) return undefined
      gaps.at++
      before = AFTER_COMMA
    } else if (c === COLON) {
      if (gap > BLANK) return undefined
      blankBeforeColon = gap === BLANK ? BLANK_COLON : 0
      gaps.at++
      before = AFTER_COLON
    } else {
      gaps.skipScalar()
      before = VALUE
    }
  }
  return {
    containers,
    unit: gaps.unit ?? '',
    lineEnd: gaps.lineEnd ?? '\n',
    emptyArray: Math.max(emptyArray, NO_GAP),
    emptyObject: Math.max(emptyObject, NO_GAP),
    emptyLines: gaps.emptyLines,
  }
}

/** Moves over a JSON text, and remembers what line breaks are like. */
class GapReader {
  at = 0
  lineEnd: string | undefined
  unit: string | undefined
  readonly emptyLines = new Map<number, number>()
  readonly #source: string
  #lineStart = 0
  #breaks = 0

  constructor(source: string) {
    this.#source = source
  }

  get column(): number {
    return this.at - this.#lineStart
  }

  /** Moves over white space, which may be none; `undefined` if it is no gap of a layout. */
  next(): Gap | undefined {
    const source = this.#source
    const start = this.at
    let c = source.charCodeAt(start)
    if (c > SPACE) return NO_GAP
    while (c === SPACE || c === LINE_FEED || c === TAB || c === CARRIAGE_RETURN) {
      c = source.charCodeAt(++this.at)
    }
    if (this.at === start + 1 && source.charCodeAt(start) === SPACE) return BLANK
    const from = source.charCodeAt(start) === SPACE ? start + 1 : start
    this.lineEnd ??= source.charCodeAt(from) === CARRIAGE_RETURN ? '\r\n' : '\n'
    let end = from
    let lines = 0
    for (; source.startsWith(this.lineEnd, end); end += this.lineEnd.length) lines++
    if (lines === 0) return undefined
    this.#lineStart = end
    if (this.unit === undefined) {
      this.unit = source.slice(end, this.at)
      if (!isUnit(this.unit)) return undefined
    }
    if (lines > 1) this.emptyLines.set(this.#breaks, lines - 1)
    this.#breaks++
    return from > start ? BLANK_AND_BREAK : LINE_BREAK
  }

  skipScalar(): void {
    const source = this.#source
    if (source.charCodeAt(this.at) === QUOTE) {
      let c = source.charCodeAt(++this.at)
      while (c !== QUOTE) {
        if (c === BACKSLASH) this.at++
        c = source.charCodeAt(++this.at)
      }
      this.at++
      return
    }
    for (let c = source.charCodeAt(this.at); !endsScalar(c); ) c = source.charCodeAt(++this.at)
  }
}

function isUnit(text: string): boolean {
  return text === '\t' || (text.length <= MAX_UNIT && text === ' '.repeat(text.length))
}

/** Also at the end of the text, whose code is NaN. */
function endsScalar(c: number): boolean {
  return !(c > SPACE) || c === COMMA || c === CLOSE_BRACE || c === CLOSE_BRACKET
}
