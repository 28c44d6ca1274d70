/**
 * What a text has that its reader must know, or look up elsewhere, and the tokens that justify it.
 * A writer reports the constructs of its text (`Uses`), and `price.ts` adds their prices to its
 * tokens. The prices are estimates until models answer questions about texts with and without a
 * construct.
 */

/** How hard a text may be to read, the easiest first. */
export const READING_LEVELS = ['plain', 'balanced', 'dense'] as const
export type ReadingLevel = (typeof READING_LEVELS)[number]
export const DEFAULT_READING: ReadingLevel = 'balanced'

/** Factors of all prices. */
export const STRENGTH: Readonly<Record<ReadingLevel, number>> = { plain: 2, balanced: 1, dense: 0 }

/** The price of a construct, in tokens. */
export interface ConstructPrice {
  /** Once for a text that has it. */
  readonly text: number
  /** A share of the written tokens of a text that has it, from 0 to 1. */
  readonly share: number
  /** For each time that it is used. */
  readonly each: number
}

interface ConstructRow extends Partial<ConstructPrice> {
  /** It is used neither at this level nor at plainer ones. */
  readonly neverAt?: ReadingLevel
}

const TABLE = {
  /** Lines whose numbers follow from one before them. */
  numbered: {},
  /** A line, or lines, that are counted. */
  times: {},
  /** A form of plain text that has no row of its own. */
  text_form: { text: 20, share: 0.1 },
  git_headers: { text: 10, share: 0.03 },
  heading: { text: 30, share: 0.1, each: 10 },
  /** A heading that begins with white space, above lines of source or settings. */
  indented_heading: { text: 30, share: 0.1, each: 60 },
  template: { text: 80, share: 0.2, each: 5, neverAt: 'plain' },
  template_switch: { each: 1 },
  /** A sign for an escape sequence of terminals. */
  sign: { text: 30, share: 0.1, each: 3, neverAt: 'plain' },
  /** JSON lines that are one table. */
  json_lines: { text: 20 },
  /** A reference to lines, short or not. */
  reference: { each: 20 },
  /** A reference to fewer than five lines, or 40 tokens. */
  short_reference: { neverAt: 'plain' },
  /** A reference to fewer than three lines and 30 tokens. */
  tiny_reference: { neverAt: 'balanced' },
  /** A column whose cells lack what all of them have in common. */
  affix: { each: 20 },
  /** The same, if a bare number is left of the cells. */
  affix_number: { each: 20, neverAt: 'plain' },
  /** Objects written by the name of their keys. */
  shape: { share: 0.1, neverAt: 'plain' },
  /** A token of a table, where a value's key stands in another line. */
  table: {},
  /** A token of nested values in brackets. The gate does not count it: the input has them too. */
  brackets: {},
} as const satisfies Readonly<Record<string, ConstructRow>>

export type Construct = keyof typeof TABLE
export const CONSTRUCTS = Object.keys(TABLE) as readonly Construct[]

/** How often a text uses each construct; absent: never. */
export type Uses = Readonly<Partial<Record<Construct, number>>>

/** The price of a construct without any overrides. */
export function usualPrice(construct: Construct): ConstructPrice {
  const { text = 0, share = 0, each = 0 }: ConstructRow = TABLE[construct]
  return { text, share, each }
}

/** Whether a level does without a construct, whatever it saves. */
export function isNeverAt(construct: Construct, level: ReadingLevel): boolean {
  const { neverAt }: ConstructRow = TABLE[construct]
  if (neverAt === undefined) return false
  return READING_LEVELS.indexOf(level) <= READING_LEVELS.indexOf(neverAt)
}

/** A short reference has fewer lines, or fewer tokens. */
export const SHORT_REFERENCE = { lines: 5, tokens: 40 } as const
/** A tiny one has fewer lines, and fewer tokens. */
export const TINY_REFERENCE = { lines: 3, tokens: 30 } as const
