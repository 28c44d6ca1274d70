/** Separators between a line number and its line, as viewers and searches print them. */
export const SEPARATORS = { arrow: '→', tab: '\t', colon: ':', dash: '-', bar: '|' } as const

/** Most spaces before a number; no viewer pads more. */
export const MAX_PAD = 12
/** Most digits of a line number. */
export const MAX_DIGITS = 9

/** How the numbers before lines are printed. */
export interface NumberLayout {
  /** Spaces and digits of the number that the layout was read from. */
  readonly width: number
  /** Whether there are spaces before the number. */
  readonly padded: boolean
}

/**
 * A number with the spaces before it: right-aligned to the layout's width if that has spaces, else
 * not at all.
 */
export function printNumber({ width, padded }: NumberLayout, number: number): string {
  const digits = String(number)
  return padded ? digits.padStart(width) : digits
}
