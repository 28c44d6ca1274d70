/**
 * A document as the planner sees it: the cost and value of each part, without its content. Builders
 * make it from JSON values (`price-value.ts`) and from texts (`price-text.ts`); `plan.ts` decides
 * on it.
 */
export interface PricedNode {
  /**
   * Tokens of a leaf's text, or of a container's frame around its children: brackets, heading,
   * fence.
   */
  readonly own: number
  /** Tokens of the key in front of it; 0 if there is none. */
  readonly key: number
  /**
   * The value of a leaf that is kept whole, or of the frame around a container's children, which
   * add their own.
   */
  readonly value: number
  /** Shorter versions of a leaf, the shortest first. */
  readonly cuts?: readonly Cut[]
  readonly children?: readonly PricedNode[]
  /**
   * Tokens around the children if these are rows of a table: its header. Members of a row cost no
   * key. Absent if they are no rows.
   */
  readonly tableOwn?: number
  /** The frame around the children has no meaning without them, so it is left out with them. */
  readonly sealed?: true
  /** Kept whatever it costs; the planner does not weigh it. */
  readonly required?: true
}

/** A prefix of a text. */
export interface Cut {
  readonly cost: number
  readonly value: number
  /** UTF-16 code units of the prefix. */
  readonly chars: number
}

/**
 * The kept part of a node: all, a text's prefix, a text without some of its parts, or some
 * children, `null` for an omitted child.
 */
export type KeptPart =
  | { readonly kind: 'all' }
  | { readonly kind: 'cut'; readonly chars: number }
  | {
      readonly kind: 'text'
      readonly text: string
      readonly missing: readonly Missing[]
      /** Marks of ours in texts of the JSON that the text is; absent: those in its lines. */
      readonly marks?: number
    }
  | { readonly kind: 'some'; readonly children: readonly (KeptPart | null)[] }

/** So many parts of a text, all that it has of them in `of`. */
interface Missing {
  readonly unit: 'items' | 'fields' | 'texts' | 'lines'
  readonly omitted: number
  readonly of?: number
}

export const ALL: KeptPart = { kind: 'all' }

/** How the members of a node are written: with their keys, or as the cells of a row. */
export type Form = 'keyed' | 'row'

/** Tokens beside the text of a cell, a member or an item: a separator or a line break. */
export const SEPARATOR = 1

/** Tokens that a child adds to a container in that form, its own cost apart. */
export function extraOf(child: PricedNode, form: Form): number {
  return SEPARATOR + (form === 'keyed' ? child.key : 0)
}
