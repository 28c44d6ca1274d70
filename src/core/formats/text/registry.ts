import { formatId } from '../json/json-format.ts'
import { embedded } from './embedded.ts'
import { markdown } from './markdown.ts'
import { mcp } from './mcp.ts'
import { ndjson } from './ndjson.ts'
import { numbered } from './numbered.ts'
import { prefixed } from './prefixed.ts'
import { splitFormat, type TextNotation } from './text-format.ts'

/** Every text format; of two equally cheap texts the earlier one is sent. */
export const TEXT_NOTATIONS: readonly TextNotation[] = [
  ndjson,
  markdown,
  embedded,
  numbered,
  prefixed,
  mcp,
]

const BY_FORMAT: ReadonlyMap<string, TextNotation> = new Map(
  TEXT_NOTATIONS.map(notation => [formatId(notation), notation]),
)

/** The format and style of an answer's `format`; `undefined` for an unknown name or version. */
export function findTextNotation(
  format: string,
): { notation: TextNotation; style: string } | undefined {
  const { base, style } = splitFormat(format)
  const notation = BY_FORMAT.get(base)
  return notation === undefined ? undefined : { notation, style }
}
