/**
 * The ranks of a content's parts. Bulk is left out first. Structure shows what the content has.
 * Critical parts (errors, warnings, stack traces) stay.
 */
export const BULK = 0
export const STRUCTURE = 1
export const CRITICAL = 2

export const TEXT_KINDS = ['diff', 'search', 'braces', 'indents', 'log', 'prose'] as const
export type TextKind = (typeof TEXT_KINDS)[number]

/** A text as reducers see it. */
export interface TextView {
  /** Lines without the numbers that a tool printed before them; as many as the text has. */
  readonly lines: readonly string[]
  /** UTF-16 code units of the text. */
  readonly chars: number
}

/** A run of UTF-16 code units of a line, `end` exclusive. */
export interface CharRange {
  readonly start: number
  readonly end: number
}

/** The rank of each line of a text, by its index. */
export interface Ranking {
  /** `BULK`, `STRUCTURE` or `CRITICAL` for each line. */
  readonly ranks: Uint8Array
  /**
   * Bulk within lines that are kept, by their index, in order: sentences of a paragraph, and the
   * middle of long lines.
   */
  readonly inner?: ReadonlyMap<number, readonly CharRange[]>
  /** The kinds of the failures among the bulk, by line: marks count them. */
  readonly counted?: ReadonlyMap<number, string>
}

/**
 * How one kind of text is reduced: pure functions of the text. One file each, listed in
 * `text-reducers.ts`.
 */
export interface TextReducer {
  readonly kind: TextKind
  accepts(view: TextView): boolean
  rank(view: TextView): Ranking
}

/**
 * Marks the lines `start` to `end` (exclusive), as far as they exist, if they are not above `rank`
 * yet.
 */
export function raise(ranks: Uint8Array, start: number, end: number, rank: number): void {
  const last = Math.min(ranks.length, end)
  for (let at = Math.max(0, start); at < last; at++) {
    if (ranks[at]! < rank) ranks[at] = rank
  }
}

/** Marks the first and the last lines of a text as its structure. */
export function raiseEnds(ranks: Uint8Array, head: number, tail: number): void {
  raise(ranks, 0, head, STRUCTURE)
  raise(ranks, ranks.length - tail, ranks.length, STRUCTURE)
}
