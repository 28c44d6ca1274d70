import { ObjectValue, type Value } from '../../../json/value.ts'
import type { KnownTables } from './known-tables.ts'
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

interface KnownPart extends CellPosition {
  readonly forms: Forms | null
}

/**
 * The forms of the parts of a content, written without shapes. Parts that another document of the
 * same content has in the same places are not written again.
 */
export class KnownParts {
  readonly #parts = new Map<Value, KnownPart>()
  /** Documents whose parts are not in the map yet: most contents have no second one. */
  #documents: { readonly value: Value; readonly forms: Forms }[] = []

  /** Looks up the parts of all documents from now on. */
  startDocument(): void {
    for (const { value, forms } of this.#documents) {
      this.#addMembers(value, forms, value instanceof ObjectValue ? -1 : 0)
    }
    this.#documents = []
  }

  keepDocument(value: Value, forms: Forms): void {
    this.#documents.push({ value, forms })
  }

  /** The forms of a value that was written in such a place; `undefined` if it was not. */
  formsOf(value: Value, level: number, role: Role): Forms | null | undefined {
    if (this.#parts.size === 0) return undefined
    const known = this.#parts.get(value)
    return known?.level === level && known.role === role ? known.forms : undefined
  }

  /** Keeps the forms of a string that begins like JSON, since such strings repeat. */
  keepString(text: string, level: number, role: Role, forms: Forms | null): void {
    this.#parts.set(text, { level, role, forms })
  }

  /** Recursion is as deep as lines go. */
  #addMembers(value: Value, { draft }: Forms, level: number): void {
    if (draft === undefined) return
    const isObject = value instanceof ObjectValue
    const place: CellPosition = isObject
      ? { level: level + 1, role: 'member' }
      : { level, role: 'item' }
    const members = isObject ? value.values : (value as readonly Value[])
    for (let i = 0; i < members.length; i++) {
      const forms = draft.inner[i]!
      const member = members[i]!
      if (forms === null || typeof member === 'string') continue
      this.#parts.set(member, { level: place.level, role: place.role, forms })
      this.#addMembers(member, forms, place.level)
    }
  }
}

/** A pricer that knows what other documents of the content have. */
export interface DraftPricer extends Pricer {
  /** `undefined` if the document is written once. */
  readonly parts: KnownParts | undefined
  /** The tables of this document; `undefined` if it is written once. */
  readonly tables: KnownTables | undefined
}

/** What is known of the document while it is written. */
type KnownShapes = Pick<DraftPricer, 'parts' | 'tables'>

/** Written out, since the objects that a spread makes are slow to read. */
export function draftPricer(
  pricer: Pricer,
  { parts, tables }: KnownShapes,
  { trace, shapes }: Pick<Pricer, 'trace' | 'shapes'>,
): DraftPricer {
  const { style, tokens, piece, tokensOf, additive, keyTexts } = pricer
  return { style, trace, shapes, tokens, piece, tokensOf, additive, keyTexts, parts, tables }
}
