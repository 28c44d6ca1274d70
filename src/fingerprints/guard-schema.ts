import type { SchemaElement, SchemaTree } from 'hyparquet'
import { getSchemaPath } from 'hyparquet/src/schema.js'
import { UnsafeError } from './guard-thrift.ts'
import { COLUMN_NAMES } from './parquet-schema.ts'

/** A few times what a file of fingerprints has: readers build a tree of them for each row group. */
const MAX_ELEMENTS = 256
/**
 * Of elements below the root: a map, its entries, their parts. Each level is a list around each
 * value.
 */
const MAX_DEPTH = 3
/** How values are written. Others are written in ways that the guard does not know. */
const TYPES: ReadonlySet<unknown> = new Set(['BYTE_ARRAY', 'INT32', 'INT64', 'FLOAT', 'DOUBLE'])
/**
 * What values are. Of others, such as decimals and JSON, readers make more than there is, or take
 * quadratic time for them.
 */
const MEANINGS: ReadonlySet<unknown> = new Set([
  undefined,
  'UTF8',
  'STRING',
  'ENUM',
  'MAP',
  'MAP_KEY_VALUE',
  'LIST',
  'INTEGER',
  ...['8', '16', '32', '64'].flatMap(bits => [`INT_${bits}`, `UINT_${bits}`]),
])

/**
 * Checks how the known columns are declared; others are never read.
 * @returns the tree of the schema
 * @throws UnsafeError if one is missing, there twice, or something else than numbers, texts, and
 * lists and maps of them
 */
export function guardSchema(schema: SchemaElement[]): SchemaTree {
  if (schema.length > MAX_ELEMENTS) throw new UnsafeError('has too many columns')
  const root = getSchemaPath(schema, [])[0]!
  const known = root.children.filter(({ element }) => COLUMN_NAMES.includes(element.name))
  const names = new Set(known.map(({ element }) => element.name))
  const missing = COLUMN_NAMES.filter(name => !names.has(name))
  if (missing.length > 0) throw new UnsafeError(`lacks the columns ${missing.join(', ')}`)
  if (known.length > names.size) throw new UnsafeError('has a column twice')
  for (const column of known) guardElement(column, 1)
  return root
}

function guardElement({ element, children }: SchemaTree, depth: number): void {
  const { name, type, converted_type, logical_type } = element
  const isPlain = MEANINGS.has(converted_type) && MEANINGS.has(logical_type?.type)
  const isWritten = children.length > 0 || TYPES.has(type)
  if (depth > MAX_DEPTH || !isPlain || !isWritten) {
    throw new UnsafeError(`has a column of an unknown kind: ${name.slice(0, 64)}`)
  }
  for (const child of children) guardElement(child, depth + 1)
}
