import { type Findings, MIN_FENCES, MIN_LIST_LINES, scanText } from './inner-formats.ts'

/** Shapes of text that is not JSON. */
export type TextShape =
  | 'empty'
  | 'markdown_table'
  | 'code_block'
  | 'numbered_list'
  | 'bullet_list'
  | 'prose'

/** A text's shape with the sizes of its first table. */
export interface TextShapeFacts {
  shape: TextShape
  /** Cells of the header of the first table. */
  n_cols?: number
  /** Rows of the first table, without header and delimiter. */
  n_rows?: number
}

/** The shape of a text, first match wins. Its inner formats go to `findings`. */
export function textShape(text: string, findings: Findings): TextShapeFacts {
  if (text.trim() === '') return { shape: 'empty' }
  const counts = scanText(text, findings)
  if (counts === undefined) return { shape: 'prose' }
  if (counts.table !== undefined) return { shape: 'markdown_table', ...counts.table }
  if (counts.fences >= MIN_FENCES) return { shape: 'code_block' }
  if (counts.gutters >= MIN_LIST_LINES) return { shape: 'numbered_list' }
  // A diff's removed lines start with a dash too.
  if (counts.bullets >= MIN_LIST_LINES && !counts.diff) return { shape: 'bullet_list' }
  return { shape: 'prose' }
}
