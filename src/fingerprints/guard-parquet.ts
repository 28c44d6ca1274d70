import {
  type ColumnMetaData,
  type FileMetaData,
  type PageHeader,
  type SchemaElement,
  snappyUncompress,
} from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import {
  getMaxDefinitionLevel,
  getMaxRepetitionLevel,
  getSchemaPath,
} from 'hyparquet/src/schema.js'
import { guardRuns } from './guard-runs.ts'
import { guardThrift, UnsafeError } from './guard-thrift.ts'
import { COLUMN_NAMES } from './parquet-schema.ts'

/** What all pages may have together once they are unpacked, in bytes. */
const MAX_UNPACKED_BYTES = 32 * 1024 * 1024
/** Of a footer: a few kilobytes for a file of a few row groups. */
const MAX_FOOTER_BYTES = 256 * 1024
const MAX_HEADER_BYTES = 16 * 1024
const MAX_PAGES = 10_000
/** Of a list or a map in one row, on average. */
const VALUES_OF_ROW = 16
/** Others need a package of their own, and are not what is written by default. */
const CODECS: ReadonlySet<string> = new Set(['UNCOMPRESSED', 'SNAPPY'])
const ENCODINGS: ReadonlySet<string> = new Set(['PLAIN', 'PLAIN_DICTIONARY', 'RLE_DICTIONARY'])
const LENGTH_BYTES = 4
/** The length of the footer, and `PAR1`. */
const TAIL_BYTES = 8

/** Bytes and pages so far. */
interface Sums {
  packed: number
  unpacked: number
  pages: number
}

/**
 * Looks at the footer's bytes before they are parsed.
 * @throws UnsafeError where it is larger than it should be, or announces more than there is
 */
export function guardFooter(bytes: Uint8Array): void {
  const tail = bytes.length - TAIL_BYTES
  if (tail < 0) throw new UnsafeError('is too short')
  const length = new DataView(bytes.buffer, bytes.byteOffset + tail).getUint32(0, true)
  if (length > Math.min(tail, MAX_FOOTER_BYTES)) throw new UnsafeError('has too large a footer')
  guardThrift(bytes, tail - length, tail)
}

/**
 * Looks at everything that a reader of the known columns would unpack or write out, so that the memory it takes is bounded: the reader
 * believes what a file announces, and a process does not survive an array of a billion values in one of its threads.
 * @throws UnsafeError which says what the file is or has, to stand behind "the Parquet file"
 */
export function guardParquet(bytes: Uint8Array, metadata: FileMetaData, maxRows: number): void {
  const { num_rows, row_groups, schema } = metadata
  if (num_rows > BigInt(maxRows)) throw new UnsafeError(`has ${num_rows} rows, above ${maxRows}`)
  const known = new Set(schema.map(({ name }) => name))
  const missing = COLUMN_NAMES.filter(name => !known.has(name))
  if (missing.length > 0) throw new UnsafeError(`lacks the columns ${missing.join(', ')}`)
  const sums = { packed: 0, unpacked: 0, pages: 0 }
  let rows = 0n
  for (const group of row_groups) {
    rows += group.num_rows
    for (const { meta_data } of group.columns) {
      if (meta_data === undefined) throw new UnsafeError('has columns in other files')
      guardChunk(bytes, meta_data, schema, maxRows * VALUES_OF_ROW, sums)
    }
  }
  if (rows !== num_rows) throw new UnsafeError('does not have the rows that it announces')
}

function guardChunk(
  file: Uint8Array,
  chunk: ColumnMetaData,
  schema: SchemaElement[],
  maxValues: number,
  sums: Sums,
): void {
  const { codec, dictionary_page_offset = 0n, data_page_offset, path_in_schema } = chunk
  const start = Number(dictionary_page_offset > 0n ? dictionary_page_offset : data_page_offset)
  const length = Number(chunk.total_compressed_size)
  sums.packed += length
  // More than the file has can only be the same twice.
  if (!(start >= 0 && length >= 0 && start + length <= file.length) || sums.packed > file.length) {
    throw new UnsafeError('is cut off')
  }
  if (!COLUMN_NAMES.includes(path_in_schema[0] ?? '')) return
  if (!CODECS.has(codec)) throw new UnsafeError(`is packed with ${codec}`)
  const path = getSchemaPath(schema, path_in_schema)
  const levels = { rep: getMaxRepetitionLevel(path), def: getMaxDefinitionLevel(path) }
  const bytes = file.subarray(start, start + length)
  const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, length), offset: 0 }
  while (reader.offset < length - 1) {
    guardThrift(bytes, reader.offset, Math.min(length, reader.offset + MAX_HEADER_BYTES))
    const header = parquetHeader(reader)
    const { compressed_page_size: packed } = header
    if (!(packed >= 0 && reader.offset + packed <= length)) throw new UnsafeError('is cut off')
    const page = bytes.subarray(reader.offset, reader.offset + packed)
    countPage(header, maxValues, sums)
    guardPage(page, header, codec, levels)
    reader.offset += packed
  }
}

function countPage(header: PageHeader, maxValues: number, sums: Sums): void {
  const { uncompressed_page_size: unpacked } = header
  sums.unpacked += unpacked
  sums.pages += 1
  if (!(unpacked >= 0) || sums.unpacked > MAX_UNPACKED_BYTES || sums.pages > MAX_PAGES) {
    throw new UnsafeError(`unpacks to more than ${MAX_UNPACKED_BYTES} bytes`)
  }
  const page =
    header.data_page_header ?? header.data_page_header_v2 ?? header.dictionary_page_header
  const values = page?.num_values ?? -1
  if (!(values >= 0 && values <= maxValues)) throw new UnsafeError(`has ${values} values in a page`)
  if (page !== undefined && !ENCODINGS.has(page.encoding)) {
    throw new UnsafeError(`has values written as ${page.encoding}`)
  }
}

/** Levels and indexes of a page of values; those of dictionaries are plain. */
function guardPage(
  page: Uint8Array,
  header: PageHeader,
  codec: string,
  levels: { readonly rep: number; readonly def: number },
): void {
  const { data_page_header: first, data_page_header_v2: second } = header
  const unpacked = header.uncompressed_page_size
  if (second !== undefined) {
    const rep = second.repetition_levels_byte_length
    const def = second.definition_levels_byte_length
    if (!(rep >= 0 && def >= 0 && rep + def <= page.length && second.num_nulls >= 0)) {
      throw new UnsafeError('is cut off')
    }
    const { num_values: count } = second
    if (levels.rep > 0) guardRuns(page.subarray(0, rep), bitsFor(levels.rep), count)
    if (levels.def > 0) guardRuns(page.subarray(rep, rep + def), bitsFor(levels.def), count)
    if (second.encoding === 'PLAIN') return
    const isPacked = second.is_compressed !== false
    const rest = page.subarray(rep + def)
    guardIndexes(isPacked ? unpack(rest, unpacked - rep - def, codec) : rest, count)
  } else if (first !== undefined) {
    let rest = unpack(page, unpacked, codec)
    for (const level of [levels.rep, levels.def].filter(highest => highest > 0)) {
      const length = new DataView(rest.buffer, rest.byteOffset, rest.length).getUint32(0, true)
      const runs = rest.subarray(LENGTH_BYTES, LENGTH_BYTES + length)
      guardRuns(runs, bitsFor(level), first.num_values)
      rest = rest.subarray(LENGTH_BYTES + length)
    }
    if (first.encoding !== 'PLAIN') guardIndexes(rest, first.num_values)
  } else if (header.dictionary_page_header === undefined) {
    throw new UnsafeError('has pages of an unknown kind')
  }
}

/** Indexes into a dictionary: how many bits each has, and their runs. */
function guardIndexes(bytes: Uint8Array, values: number): void {
  const [bitWidth] = bytes
  if (bitWidth === undefined && values > 0) throw new UnsafeError('is cut off')
  if (bitWidth !== undefined && bitWidth > 0) guardRuns(bytes.subarray(1), bitWidth, values)
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
