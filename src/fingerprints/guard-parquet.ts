import {
  type ColumnMetaData,
  type FileMetaData,
  type PageHeader,
  type SchemaElement,
  type SchemaTree,
  snappyUncompress,
} from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import {
  getMaxDefinitionLevel,
  getMaxRepetitionLevel,
  getSchemaPath,
  getTreePath,
} from 'hyparquet/src/schema.js'
import { guardThrift, UnsafeError } from './guard-thrift.ts'
import { COLUMN_NAMES, LATER_COLUMNS } from './parquet-schema.ts'

/** Most bytes of all pages together once they are unpacked. */
const MAX_UNPACKED_BYTES = 32 * 1024 * 1024
/**
 * The size of a footer: a few kilobytes for a file of a few row groups. A reader takes quadratic
 * time for some statistics.
 */
const MAX_FOOTER_BYTES = 64 * 1024
const MAX_HEADER_BYTES = 16 * 1024
const MAX_PAGES = 10_000
const MAX_GROUPS = 100
/**
 * Values of all columns in one row, on average: a share of each shape, its name, formats, and
 * dictionaries of them.
 */
const VALUES_OF_ROW = 80
/** Other codecs need a package of their own, and writers do not use them by default. */
const CODECS: ReadonlySet<string> = new Set(['UNCOMPRESSED', 'SNAPPY'])
const ENCODINGS: ReadonlySet<string> = new Set(['PLAIN', 'PLAIN_DICTIONARY', 'RLE_DICTIONARY'])
const LENGTH_BYTES = 4
/** The length of the footer, and `PAR1`. */
const TAIL_BYTES = 8

/** What is left of bytes, pages and values. */
interface Allowance {
  packed: number
  unpacked: number
  pages: number
  values: number
}

/**
 * Looks at the footer's bytes before they are parsed.
 * @throws UnsafeError if it is larger than it should be, or announces more than there is
 */
export function guardFooter(bytes: Uint8Array): void {
  const tail = bytes.length - TAIL_BYTES
  if (tail < 0) throw new UnsafeError('is too short')
  const length = new DataView(bytes.buffer, bytes.byteOffset + tail).getUint32(0, true)
  if (length > Math.min(tail, MAX_FOOTER_BYTES)) throw new UnsafeError('has too large a footer')
  guardThrift(bytes, tail - length, tail)
}

/**
 * Checks everything that a reader of the known columns would unpack, so that its memory is bounded.
 * The reader trusts what a file announces, and an array of a billion values in a thread would end
 * the process. @throws UnsafeError whose text continues "the Parquet file"
 */
export function guardParquet(bytes: Uint8Array, metadata: FileMetaData, maxRows: number): void {
  const { num_rows, row_groups, schema } = metadata
  if (num_rows > BigInt(maxRows)) throw new UnsafeError(`has ${num_rows} rows, above ${maxRows}`)

  if (row_groups.length > MAX_GROUPS) throw new UnsafeError(`has above ${MAX_GROUPS} row groups`)
  const root = guardSchema(schema)
  const left = {
    packed: bytes.length,
    unpacked: MAX_UNPACKED_BYTES,
    pages: MAX_PAGES,
    values: maxRows * VALUES_OF_ROW,
  }
  let rows = 0n
  for (const group of row_groups) {
    if (group.num_rows < 0n) throw new UnsafeError('has row groups of less than nothing')
    rows += group.num_rows
    for (const { meta_data } of group.columns) {
      if (meta_data === undefined) throw new UnsafeError('has columns in other files')
      guardChunk(bytes, meta_data, root, left)
    }
  }
  if (rows !== num_rows) throw new UnsafeError('does not have the rows that it announces')
}

function guardChunk(
  file: Uint8Array,
  chunk: ColumnMetaData,
  root: SchemaTree,
  left: Allowance,
): void {
  const { codec, dictionary_page_offset: dictionary = 0n, data_page_offset, path_in_schema } = chunk
  // Readers treat 0 as absent, so this does too.
  const start = Number(dictionary || data_page_offset)
  const length = Number(chunk.total_compressed_size)
  left.packed -= length
  // Chunks with more bytes than the file must overlap.
  if (!(start >= 0 && length >= 0 && start + length <= file.length && left.packed >= 0)) {
    throw new UnsafeError('is cut off')
  }
  if (!COLUMN_NAMES.includes(path_in_schema[0] ?? '')) return
  if (!CODECS.has(codec)) throw new UnsafeError(`is packed with ${codec}`)
  const path = getTreePath(root, path_in_schema)
  // The chunk's type decides what is read, and the schema's type how it is converted.
  if (path.at(-1)?.element.type !== chunk.type) throw new UnsafeError('does not fit its schema')
  const levels = { rep: getMaxRepetitionLevel(path), def: getMaxDefinitionLevel(path) }
  const bytes = file.subarray(start, start + length)
  const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, length), offset: 0 }
  while (reader.offset < length - 1) {
    guardThrift(bytes, reader.offset, Math.min(length, reader.offset + MAX_HEADER_BYTES))
    const header = parquetHeader(reader)
    const { compressed_page_size: packed } = header
    if (!(packed >= 0 && reader.offset + packed <= length)) throw new UnsafeError('is cut off')
    const page = bytes.subarray(reader.offset, reader.offset + packed)
    countPage(header, left)
    guardPage(page, header, codec, levels)
    reader.offset += packed
  }
}

function countPage(header: PageHeader, left: Allowance): void {
  const { uncompressed_page_size: unpacked } = header
  left.unpacked -= unpacked
  left.pages -= 1
  if (!(unpacked >= 0 && left.unpacked >= 0 && left.pages >= 0)) {
    throw new UnsafeError(`unpacks to more than ${MAX_UNPACKED_BYTES} bytes`)
  }
  const { num_values, encoding } = headerOfKind(header)
  left.values -= num_values
  if (!(num_values >= 0 && left.values >= 0)) throw new UnsafeError('has too many values')
  if (!ENCODINGS.has(encoding)) throw new UnsafeError(`has values written as ${encoding}`)
}

/** A page can have headers of several kinds; readers go by the kind that it names. */
function headerOfKind(header: PageHeader) {
  const { type, data_page_header, data_page_header_v2, dictionary_page_header } = header
  const found =
    (type === 'DATA_PAGE' && data_page_header) ||
    (type === 'DATA_PAGE_V2' && data_page_header_v2) ||
    (type === 'DICTIONARY_PAGE' && dictionary_page_header)
  if (!found) throw new UnsafeError('has pages of an unknown kind')
  return found
}

/** Levels and indexes of a page of values; those of dictionaries are plain. */
function guardPage(
  page: Uint8Array,
  header: PageHeader,
  codec: string,
  levels: { readonly rep: number; readonly def: number },
): void {
  const { type, data_page_header: first, data_page_header_v2: second } = header
  const unpacked = header.uncompressed_page_size
  if (type === 'DATA_PAGE_V2' && second !== undefined) {
    const rep = second.repetition_levels_byte_length
    const def = second.definition_levels_byte_length
    if (!(rep >= 0 && def >= 0 && rep + def <= page.length && second.num_nulls >= 0)) {
      throw new UnsafeError('is cut off')
    }
    const { num_values: count } = second
    guardLevels(page.subarray(0, rep), levels.rep, count)
    guardLevels(page.subarray(rep, rep + def), levels.def, count)
    if (second.encoding === 'PLAIN') return
    const isPacked = second.is_compressed !== false
    const rest = page.subarray(rep + def)
    guardIndexes(isPacked ? unpack(rest, unpacked - rep - def, codec) : rest, count)
  } else if (type === 'DATA_PAGE' && first !== undefined) {
    let rest = unpack(page, unpacked, codec)
    for (const level of [levels.rep, levels.def].filter(highest => highest > 0)) {
      const length = new DataView(rest.buffer, rest.byteOffset, rest.length).getUint32(0, true)
      guardLevels(rest.subarray(LENGTH_BYTES, LENGTH_BYTES + length), level, first.num_values)
      rest = rest.subarray(LENGTH_BYTES + length)
    }
    // Readers handle indexes of 0 bits correctly here.
    if (first.encoding !== 'PLAIN' && rest[0] !== 0) guardIndexes(rest, first.num_values)
  }
}

/** If there are too few levels, readers read the bytes after them as levels. */
function guardLevels(bytes: Uint8Array, highest: number, values: number): void {
  if (highest > 0 && guardRuns(bytes, bitsFor(highest), values) < values) {
    throw new UnsafeError('has too few levels')
  }
}

/**
 * Indexes into a dictionary: how many bits each has, and their runs, up to the end of the page;
 * null values have no index.
 */
function guardIndexes(bytes: Uint8Array, values: number): void {
  const [bitWidth] = bytes
  if (bitWidth === undefined && values > 0) throw new UnsafeError('is cut off')
  if (bitWidth !== undefined) guardRuns(bytes.subarray(1), bitWidth, values)
}

function unpack(bytes: Uint8Array, length: number, codec: string): Uint8Array {
  if (codec === 'UNCOMPRESSED') return bytes
  if (!(length >= 0)) throw new UnsafeError('is cut off')
  const unpacked = new Uint8Array(length)
  snappyUncompress(bytes, unpacked)
  return unpacked
}

/** Bits that a number up to `highest` takes. */
function bitsFor(highest: number): number {
  return 32 - Math.clz32(highest)
}

/** A few times what a file of fingerprints has: readers build a tree of them for each row group. */
const MAX_ELEMENTS = 256
/**
 * The depth of elements below the root: a map, its entries, their parts. Each level is a list
 * around each value.
 */
const MAX_DEPTH = 3
/** How values are written. Others are written in ways that the guard does not know. */
const TYPES: ReadonlySet<unknown> = new Set(['BYTE_ARRAY', 'INT32', 'INT64', 'FLOAT', 'DOUBLE'])
/**
 * What values are. For other types, such as decimals and JSON, readers may take much more memory,
 * or quadratic time.
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
function guardSchema(schema: SchemaElement[]): SchemaTree {
  if (schema.length > MAX_ELEMENTS) throw new UnsafeError('has too many columns')
  const root = getSchemaPath(schema, [])[0]!
  const known = root.children.filter(({ element }) => COLUMN_NAMES.includes(element.name))
  const names = new Set(known.map(({ element }) => element.name))
  const missing = COLUMN_NAMES.filter(name => !names.has(name) && !LATER_COLUMNS.has(name))
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

/** Values of a packed run come in groups of so many. */
const GROUP = 8
/** The head of a run: readers have 32 bits for it, with a sign. */
const MAX_HEAD = 2 ** 31 - 1

/**
 * Walks runs of Parquet's hybrid of run lengths and packed bits without writing them out: a run of
 * a few bytes can announce a billion values, all of which a reader writes.
 * @param bitWidth of a value
 * @param values that the runs are for, at most
 * @returns how many values there are, up to the one that ends the last run that was needed
 * @throws UnsafeError if they have more, or if readers would take the bytes for other runs
 * than these
 */
function guardRuns(bytes: Uint8Array, bitWidth: number, values: number): number {
  let at = 0
  let seen = 0

  function head(): number {
    let value = 0
    for (let factor = 1; factor <= MAX_HEAD; factor *= 128) {
      const next = bytes[at]
      if (next === undefined) throw new UnsafeError('has a run that breaks off')
      at += 1
      value += (next & 0x7f) * factor
      if (next < 0x80 && value <= MAX_HEAD) return value
    }
    throw new UnsafeError('has a run without end')
  }

  while (at < bytes.length && seen < values) {
    const run = head()
    const length = Math.floor(run / 2)
    if (run % 2 === 1) {
      seen += length * GROUP
      at += length * bitWidth
      // Readers take a byte of a packed run that has none, and go through all its values.
      const isEmpty = length * bitWidth === 0
      if (isEmpty && (seen < values || length > values)) throw new UnsafeError('has an empty run')
    } else {
      if (seen + length > values) throw new UnsafeError('has a run that is longer than its page')
      seen += length
      at += Math.ceil(bitWidth / 8)
    }
  }
  return seen
}
