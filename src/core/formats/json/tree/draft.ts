import type { Value } from '../../../json/value.ts'
import type { Pricer } from './pricer.ts'
import type { ScalarText } from './scalar-text.ts'
import type { BracketFrame } from './write-inline.ts'
import type { Forms, Frame } from './write-lines.ts'

/**
 * A container as it is written without shapes. With shapes only its members that reach one differ,
 * and everything around them is the same.
 */
export interface Draft {
  /** The forms of the members that have some; `null` for the others, which are `scalars`. */
  readonly inner: readonly (Forms | null)[]
  readonly scalars: readonly (ScalarText | null)[]
  readonly brackets: BracketFrame
  /** `null` for a list that is an item, which has no lines of its own. */
  readonly lines: Frame | null
}

/** A pricer with the drafts of a document, by their containers; those in tables have none. */
export interface DraftPricer extends Pricer {
  /** Absent if the document is written once. */
  readonly drafts?: Map<Value, Draft>
}
