import { csv } from './csv.ts'
import { jsonCompact } from './json-compact.ts'
import { formatId, type Notation } from './json-format.ts'
import { tree } from './tree/tree.ts'

/**
 * Every format, the more special ones first: of two equally cheap texts the earlier one is sent.
 */
export const NOTATIONS: readonly Notation[] = [csv, jsonCompact, tree]

const BY_FORMAT: ReadonlyMap<string, Notation> = new Map(NOTATIONS.map(n => [formatId(n), n]))

/**
 * The format with the id of an answer, for example `csv@1`; `undefined` for an unknown name or
 * version.
 */
export function findNotation(format: string): Notation | undefined {
  return BY_FORMAT.get(format)
}
