import { type FileMetaData, parquetMetadata, parquetReadObjects, toJson } from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import { LIMITS } from '../core/fingerprints/fingerprint.ts'
import { AppError } from '../errors.ts'
import { COLUMN_NAMES } from './parquet-schema.ts'

/** What all pages may have together once they are unpacked, in bytes. */
const MAX_UNPACKED_BYTES = 32 * 1024 * 1024
/** Values of one page: rows, times what a list or a map may have in a row. */
const MAX_VALUES = LIMITS.rows * 16
const MAX_PAGES = 10_000
/** Others need a package of their own, and are not what is written by default. */
const CODECS: ReadonlySet<string> = new Set(['UNCOMPRESSED', 'SNAPPY'])

/**
 * The rows of a Parquet file as objects, unchecked but for the names of their columns; more columns than are known are left out. Sizes
 * that the file announces are looked at before anything is unpacked.
 * @param maxRows of the file
 * @throws AppError `invalid_request` where it is no Parquet file, lacks columns, or announces too much
 */
export async function readParquet(bytes: Uint8Array, maxRows: number): Promise<unknown[]> {
  // The reader takes a buffer of its own.
  const file = bytes.slice().buffer
  try {
    const metadata = parquetMetadata(file, { geoparquet: false })
    guard(file, metadata, maxRows)
    const rows = await parquetReadObjects({ file, metadata, columns: [...COLUMN_NAMES] })
    return rows.map(toPlain)
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('invalid_request', 'the body is no Parquet file that can be read', {}, error)
  }
}

function guard(file: ArrayBuffer, metadata: FileMetaData, maxRows: number): void {
  const { num_rows, row_groups, schema } = metadata
  if (num_rows > BigInt(maxRows)) throw invalid(`has ${num_rows} rows, above ${maxRows}`)
  const known = new Set(schema.map(({ name }) => name))
  const missing = COLUMN_NAMES.filter(name => !known.has(name))
  if (missing.length > 0) throw invalid(`lacks the columns ${missing.join(', ')}`)
  const sums = { rows: 0n, unpacked: 0, pages: 0 }
  for (const { columns, num_rows: rows } of row_groups) {
    sums.rows += rows
    for (const { meta_data: chunk } of columns) {
      if (chunk === undefined) throw invalid('has columns in other files')
      if (!CODECS.has(chunk.codec)) throw invalid(`is packed with ${chunk.codec}`)
      const dictionary = chunk.dictionary_page_offset ?? 0n
      const start = Number(dictionary > 0n ? dictionary : chunk.data_page_offset)
      guardPages(file, start, start + Number(chunk.total_compressed_size), sums)
    }
  }
  if (sums.rows !== num_rows) throw invalid('does not have the rows that it announces')
}

function guardPages(
  file: ArrayBuffer,
  start: number,
  end: number,
  sums: { unpacked: number; pages: number },
): void {
  if (!(start >= 0 && end >= start && end <= file.byteLength)) throw invalid('is cut off')
  const reader = { view: new DataView(file, start, end - start), offset: 0 }
  while (reader.offset < reader.view.byteLength - 1) {
    const header = parquetHeader(reader)
    const { compressed_page_size: packed, uncompressed_page_size: unpacked } = header
    const page =
      header.data_page_header ?? header.data_page_header_v2 ?? header.dictionary_page_header
    const values = page?.num_values ?? 0
    if (!(packed >= 0 && reader.offset + packed <= reader.view.byteLength)) {
      throw invalid('is cut off')
    }
    if (!(values >= 0 && values <= MAX_VALUES)) throw invalid(`has ${values} values in a page`)
    sums.unpacked += unpacked
    sums.pages += 1
    if (!(unpacked >= 0) || sums.unpacked > MAX_UNPACKED_BYTES || sums.pages > MAX_PAGES) {
      throw invalid(`unpacks to more than ${MAX_UNPACKED_BYTES} bytes`)
    }
    reader.offset += packed
  }
}

/** Whole numbers are big ones in Parquet, and maps come as objects or lists. */
function toPlain(row: Record<string, unknown>): unknown {
  return toJson(row)
}

function invalid(what: string): AppError {
  return new AppError('invalid_request', `the Parquet file ${what}`)
}
