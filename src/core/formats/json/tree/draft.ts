import { ObjectValue, type Value } from '../../../json/value.ts'
import type { Pricer } from './pricer.ts'
import type { ScalarText } from './scalar-text.ts'
import type { Role } from './trace.ts'
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

/** The level and role of a value, which decide how it is written. */
export interface Place {
  readonly level: number
  readonly role: Role
}

/** What was found of the parts of a content when they were written without shapes. */
export class KnownParts {
  readonly drafts = new Map<Value, Draft>()
  readonly forms = new Map<Value, Place & { readonly forms: Forms | null }>()
}

/**
 * The drafts of one document, by their containers; those in tables have none. Parts that another
 * document of the same content has in the same places are not written again.
 */
export class Drafts {
  readonly #known: KnownParts
  readonly #drafts = new Map<Value, Draft>()

  constructor(known = new KnownParts()) {
    this.#known = known
  }

  draftOf(value: Value): Draft | undefined {
    return this.#drafts.get(value)
  }

  keepDraft(value: Value, draft: Draft): void {
    this.#drafts.set(value, draft)
    this.#known.drafts.set(value, draft)
  }

  /** The forms of a value that was written in such a place; `undefined` if it was not. */
  formsOf(value: Value, { level, role }: Place): Forms | null | undefined {
    const known = this.#known.forms.get(value)
    if (known?.level !== level || known.role !== role) return undefined
    this.#adopt(value)
    return known.forms
  }

  keepForms(value: Value, { level, role }: Place, forms: Forms | null): void {
    this.#known.forms.set(value, { level, role, forms })
  }

  /**
   * Takes over the drafts of a container and of those in it. Others are not taken: with shapes, a
   * container is written otherwise if it has no draft here. Without recursion.
   */
  #adopt(value: Value): void {
    const open: (readonly Value[])[] = [[value]]
    for (let level = open.pop(); level !== undefined; level = open.pop()) {
      for (const member of level) {
        const inner = member instanceof ObjectValue ? member.values : member
        if (!Array.isArray(inner)) continue
        const draft = this.#known.drafts.get(member)
        if (draft !== undefined) this.#drafts.set(member, draft)
        open.push(inner)
      }
    }
  }
}

/** A pricer that keeps what is found of the containers. */
export interface DraftPricer extends Pricer {
  /** Absent if the document is written once. */
  readonly drafts?: Drafts
}
