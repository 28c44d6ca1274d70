import { formatId } from '../json/json-format.ts'
import { diff } from './diff.ts'
import { markdown } from './markdown.ts'
import { mcp } from './mcp.ts'
import { ndjson } from './ndjson.ts'
import { numbered } from './numbered.ts'
import { prefixed } from './prefixed.ts'
import { createStrings } from './strings.ts'
import { templated } from './templated.ts'
import { createTerminal } from './terminal.ts'
import { splitFormat, type TextFormat } from './text-format.ts'

/** Formats of whole texts. */
const PLAIN_FORMATS: readonly TextFormat[] = [ndjson, numbered, diff, prefixed, templated]

/** The same, and what is for terminals, in colours or not. */
const BLOCK_FORMATS: readonly TextFormat[] = [...PLAIN_FORMATS, createTerminal(PLAIN_FORMATS)]

/** Every text format; of two equally cheap texts the earlier one is sent. */
export const TEXT_FORMATS: readonly TextFormat[] = [
  markdown,
  ...BLOCK_FORMATS,
  mcp,
  createStrings(BLOCK_FORMATS),
]

const BY_FORMAT: ReadonlyMap<string, TextFormat> = new Map(
  TEXT_FORMATS.map(format => [formatId(format), format]),
)

/** The format and style of an answer's `format`; `undefined` for an unknown name or version. */
export function findTextFormat(
  answered: string,
): { format: TextFormat; style: string } | undefined {
  const { base, style } = splitFormat(answered)
  const format = BY_FORMAT.get(base)
  return format === undefined ? undefined : { format, style }
}
