import type { Document } from '../budget/document.ts'
import type { ItemKind } from './kinds.ts'
import type { Level } from './levels.ts'

/** The items of a content, counted from 0 in its own order. */
export interface ItemList {
  readonly kind: ItemKind
  /** Tokens of each, by the document's own prices. */
  readonly tokens: readonly number[]
  /** A few words on some of them, given in order. */
  summarize(items: readonly number[]): string
}

/** Which part of a content a plan is about. */
export interface Scope {
  /** Nothing of a higher level is kept. */
  readonly level: Level
  /** Only these items, in order, and nothing beside them; all if absent. */
  readonly items?: readonly number[]
  /** Whether each of these items must at least be named. */
  readonly required?: boolean
}

/** A content of items, of which a scope is planned by a tree. */
export interface ItemDocument {
  readonly list: ItemList
  scoped(scope: Scope): Document
}
