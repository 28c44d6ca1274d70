import type { Piece } from './piece.ts'
import { excess, type Pricer } from './pricer.ts'
import { weighsBrackets } from './style.ts'
import type { RowWriter } from './write-table.ts'

/** A nested value in brackets inside a table. */
interface Bracket {
  readonly text: string
  /** The rows of a column, which name no keys, rather than a value as in JSON. */
  readonly isRows: boolean
}

/** A table as text, with the nested values in its rows if the style weighs them. */
export interface Table {
  readonly text: string
  readonly brackets: readonly Bracket[]
}

/** The nested values that the writer is going to write; none if the style does not weigh them. */
export function collectBrackets(writer: RowWriter, { style }: Pricer): readonly Bracket[] {
  const brackets: Bracket[] = []
  if (weighsBrackets(style)) {
    writer.onBracket = (text, isRows) => brackets.push({ text, isRows })
  }
  return brackets
}

/** The table with its price; what is in brackets in its rows costs what it costs elsewhere. */
export function tablePiece({ text, brackets }: Table, pricer: Pricer): Piece {
  const { style, tokens } = pricer
  const count = tokens(text)
  let surcharge = count * (style.tableCost - 1)
  let values = ''
  for (const bracket of brackets) {
    surcharge += excess(bracket.text, style)
    if (!bracket.isRows) values += `\n${bracket.text}`
  }
  if (values !== '') surcharge += tokens(values) * (style.bracketCost - 1)
  return { text, tokens: count, surcharge }
}
