import { csv } from './csv.ts'
import { jsonCompact } from './json-compact.ts'
import { formatId, type JsonFormat } from './json-format.ts'
import { toon } from './toon.ts'
import { tree } from './tree/tree.ts'

/**
 * Every format, the more special ones first: of two equally cheap texts the earlier one is sent.
 */
export const JSON_FORMATS: readonly JsonFormat[] = [csv, jsonCompact, tree]

/** Formats that are written only if a request names them. */
export const NAMED_JSON_FORMATS: readonly JsonFormat[] = [toon]

const BY_FORMAT: ReadonlyMap<string, JsonFormat> = new Map(
  [...JSON_FORMATS, ...NAMED_JSON_FORMATS].map(format => [formatId(format), format]),
)

/**
 * The format with the id of an answer, for example `csv@1`; `undefined` for an unknown name or
 * version.
 */
export function findJsonFormat(format: string): JsonFormat | undefined {
  return BY_FORMAT.get(format)
}
