import {
  BLANK,
  BLANK_COLON,
  breaksLines,
  COLON_BLANK,
  type Gap,
  gapsOf,
  type Layout,
  LINE_BREAK,
  type Style,
} from './layout.ts'

/** What a style means for who writes a container. */
export interface StyleParts {
  readonly open: Gap
  readonly comma: Gap
  readonly close: Gap
  /** With its blanks. */
  readonly colon: string
  /** Levels that it adds. */
  readonly levels: number
}

const STYLES = 256
const PARTS: readonly StyleParts[] = Array.from({ length: STYLES }, (_, style) => {
  const { colon, ...gaps } = gapsOf(style)
  const before = (colon & BLANK_COLON) === 0 ? '' : ' '
  const after = (colon & COLON_BLANK) === 0 ? '' : ' '
  return { ...gaps, colon: `${before}:${after}`, levels: breaksLines(style) ? 1 : 0 }
})

export function partsOf(style: Style): StyleParts {
  return PARTS[style]!
}

/** The texts of gaps, in the order of the JSON text. */
export class GapTexts {
  readonly #layout: Layout
  /** Line breaks by the level of what follows. */
  readonly #breaks: string[] = []
  #count = 0

  constructor(layout: Layout) {
    this.#layout = layout
  }

  next(gap: Gap, level: number): string {
    if (gap < LINE_BREAK) return gap === BLANK ? ' ' : ''
    const { unit, lineEnd, emptyLines } = this.#layout
    const lines = emptyLines.size === 0 ? 0 : (emptyLines.get(this.#count++) ?? 0)
    this.#breaks[level] ??= lineEnd + unit.repeat(level)
    const text = this.#breaks[level]
    if (lines === 0 && gap === LINE_BREAK) return text
    return ((gap & BLANK) === 0 ? '' : ' ') + lineEnd.repeat(lines) + text
  }
}
