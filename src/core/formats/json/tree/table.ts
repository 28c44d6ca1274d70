import type { Uses } from '../../../reading/constructs.ts'

/** A nested value in brackets inside a table. */
export interface Bracket {
  readonly text: string
  /** The rows of a column, which name no keys, rather than a value as in JSON. */
  readonly isRows: boolean
}

/** A table as text, with the nested values in its rows if the style weighs them. */
export interface Table {
  readonly text: string
  readonly brackets: readonly Bracket[]
  /** What its reader must know; `undefined`: nothing. */
  readonly uses: Uses | undefined
}
