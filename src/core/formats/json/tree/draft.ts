import type { KeyTexts, Pricer } from './pricer.ts'
import type { ScalarText } from './scalar-text.ts'
import type { Piece, Role } from './trace.ts'
import type { BracketFrame } from './write-inline.ts'

/** The cheapest ways to write a container. */
export interface Forms {
  /** In brackets, on one line. */
  readonly inline: Piece
  /**
   * In its role: after a key, its colon included; as an item of a list, the first line without its
   * spaces; or as the whole document.
   */
  readonly shown: Piece
  /** What they were made from; absent if the container is a table, or in brackets alone. */
  readonly draft?: Draft
}

/** The texts of a container's members on lines, without those that have forms of their own. */
export interface Frame {
  /** What stands before, between and after the members in `slots`. */
  readonly texts: readonly string[]
  /** Indexes of the members that are written in their own form. */
  readonly slots: readonly number[]
  readonly tokens: number
}

/**
 * A container as it is written without shapes. With shapes only its members that reach one differ,
 * and everything around them is the same.
 */
export interface Draft {
  /** The forms of the members that have some; `null` for the others, which are `scalars`. */
  readonly inner: readonly (Forms | null)[]
  readonly scalars: readonly (ScalarText | null)[]
  /** The keys of an object; `null` of a list. */
  readonly keys: readonly KeyTexts[] | null
  readonly brackets: BracketFrame
  /** `null` for a list that is an item, which has no lines of its own. */
  readonly lines: Frame | null
}

/** The level and role of a value, which decide how it is written. */
export interface CellPosition {
  readonly level: number
  readonly role: Role
}

/**
 * The prices for another document. Written out, since the objects that a spread makes are slow to
 * read.
 */
export function pricerWith(
  pricer: Pricer,
  { trace, shapes }: Pick<Pricer, 'trace' | 'shapes'>,
): Pricer {
  const { style, tokens, piece, additive, keyTexts } = pricer
  return { style, trace, shapes, tokens, piece, additive, keyTexts }
}
