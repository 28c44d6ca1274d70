import { FREE_READING, isPriced, type Reading } from '../../../reading/price.ts'

/**
 * Deepest level of lines. What lies below stays in brackets: real documents rarely go so deep, and
 * the spaces in front of deep lines would grow faster than the document.
 */
export const MAX_LINE_DEPTH = 16

/**
 * Decides between ways to write a part that all represent the same value. Reading does not depend
 * on it.
 */
export interface TreeStyle {
  /** Levels of lines below the first, at most `MAX_LINE_DEPTH`. */
  readonly lineDepth: number
  /** Nested values whose brackets hold more characters become lines or tables if they can. */
  readonly maxBracketChars: number
  /** Objects that make a table, and how alike their keys are (see `keyStability`), at least. */
  readonly minTableRows: number
  readonly minKeyStability: number
  /** What tables, brackets, columns with a pattern and shapes cost. */
  readonly reading: Reading
  /** Members of an object of scalars that stand on lines of their own, at least. */
  readonly minLineMembers: number
}

/** The fewest tokens, in whatever form that can be read. */
export const FEWEST_TOKENS: TreeStyle = {
  lineDepth: MAX_LINE_DEPTH,
  maxBracketChars: Number.POSITIVE_INFINITY,
  minTableRows: 1,
  minKeyStability: 0,
  reading: FREE_READING,
  minLineMembers: 1,
}

/** Whether nested values in brackets are weighed at all. */
export function weighsBrackets({ reading, maxBracketChars }: TreeStyle): boolean {
  return isPriced(reading, 'brackets') || maxBracketChars !== Number.POSITIVE_INFINITY
}
