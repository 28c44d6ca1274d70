import { ObjectValue, type Value } from '../json/value.ts'
import {
  type Findings,
  INNER_FORMATS,
  type InnerFormat,
  MIN_FENCES,
  MIN_LIST_LINES,
  noFindings,
  scanText,
} from './inner-formats.ts'
import { type JsonShape, type JsonShapeFacts, jsonShape } from './json-shape.ts'

/** Shapes of text that is not JSON. */
type TextShape =
  | 'empty'
  | 'markdown_table'
  | 'code_block'
  | 'numbered_list'
  | 'bullet_list'
  | 'prose'

/** A text's shape with the sizes of its first table. */
interface TextShapeFacts {
  shape: TextShape
  /** Cells of the header of the first table. */
  n_cols?: number
  /** Rows of the first table, without header and delimiter. */
  n_rows?: number
}

/** The shape of a text, first match wins. Its inner formats go to `findings`. */
function textShape(text: string, findings: Findings): TextShapeFacts {
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

/** What a tool result looks like as a whole; `unknown` is for a text that was not classified. */
type Shape = JsonShape | TextShape | 'unknown'

/** The shape of a text with its details; names are those of the HTTP answers and of telemetry. */
export interface ShapeReport {
  readonly shape: Shape
  /** Formats met in the text or in the strings of its value, in the order of `INNER_FORMATS`. */
  readonly inner_formats: readonly InnerFormat[]
  readonly n_items?: number
  readonly n_fields?: number
  readonly n_cols?: number
  readonly n_rows?: number
  readonly depth?: number
  readonly key_stability?: number
}

/** The inner format that adds nothing to the shape; it is not reported beside it. */
const OWN_FORMAT: { readonly [shape in Shape]?: InnerFormat } = {
  markdown_table: 'md_table',
  code_block: 'code_fence',
  numbered_list: 'numbered_list',
  prose: 'prose',
}

/**
 * Classifies `text`, whose JSON value is `parsed`, or `undefined` if it is no JSON. A JSON scalar
 * is classified as the text it is. Linear, and without recursion.
 */
export function classify(text: string, parsed: Value | undefined): ShapeReport {
  const findings = noFindings()
  return report(
    parsed instanceof ObjectValue || Array.isArray(parsed)
      ? jsonShape(parsed, findings)
      : textShape(text, findings),
    findings,
  )
}

/** The shape of a value, with its sizes. Its strings are not looked at. */
export function shapeOfValue(value: Value): ShapeReport {
  if (!(value instanceof ObjectValue) && !Array.isArray(value)) {
    return { shape: 'unknown', inner_formats: [] }
  }
  return { ...jsonShape(value, null), inner_formats: [] }
}

function report(facts: JsonShapeFacts | TextShapeFacts, findings: Findings): ShapeReport {
  const own = OWN_FORMAT[facts.shape]
  const inner_formats = INNER_FORMATS.filter(format => findings[format] && format !== own)
  return { ...facts, inner_formats }
}
