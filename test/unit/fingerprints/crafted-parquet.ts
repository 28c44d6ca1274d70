import { type ColumnMetaData, type FileMetaData, parquetMetadata } from 'hyparquet'
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js'
import { writeMetadata } from 'hyparquet-writer/src/metadata.js'
import { serializeTCompactProtocol } from 'hyparquet-writer/src/thrift.js'
import { fingerprintsToParquet } from '../../../src/fingerprints/parquet-file.ts'
import { row } from './rows.ts'

/** `PAR1`, and the length of the footer before it. */
const MAGIC = 0x31524150
const TAIL_BYTES = 8

/**
 * A page header of Thrift: `field_1` is the type, 2 and 3 the sizes, 5, 7 and 8 the headers by
 * type.
 */
export interface PageFields {
  readonly type: 0 | 2 | 3
  readonly field_5?: object
  readonly field_7?: object
  readonly field_8?: object
}

/** A file of five rows whose footer is another, with bytes between rows and footer. */
export function withFooter(
  change: (metadata: FileMetaData, extraAt: number) => void,
  extra: Uint8Array = new Uint8Array(0),
): Uint8Array {
  const good = fingerprintsToParquet(Array.from({ length: 5 }, () => row()))
  const metadata = parquetMetadata(good)
  const end = good.length - TAIL_BYTES - metadata.metadata_length
  // The writer would make them fit the schema.
  for (const chunk of chunksOf(metadata)) delete chunk.statistics
  change(metadata, end)
  const writer = new ByteWriter()
  writer.appendBytes(good.subarray(0, end))
  writer.appendBytes(extra)
  writeMetadata(writer, metadata)
  writer.appendUint32(MAGIC)
  return new Uint8Array(writer.getBuffer())
}

/** A file in which a column has other pages. */
export function withPages(
  column: string,
  pages: readonly Uint8Array[],
  change: (chunk: ColumnMetaData, at: number) => void = () => {},
): Uint8Array {
  const bytes = Buffer.concat(pages)
  return withFooter((metadata, at) => {
    const chunk = chunksOf(metadata).find(({ path_in_schema: [name] }) => name === column)!
    delete chunk.dictionary_page_offset
    chunk.codec = 'UNCOMPRESSED'
    chunk.data_page_offset = BigInt(at)
    chunk.total_compressed_size = BigInt(bytes.length)
    change(chunk, at)
  }, bytes)
}

export function chunksOf({ row_groups }: FileMetaData): ColumnMetaData[] {
  return row_groups.flatMap(({ columns }) => columns.map(({ meta_data }) => meta_data!))
}

export function page({ type, ...headers }: PageFields, body: readonly number[]): Uint8Array {
  const writer = new ByteWriter()
  serializeTCompactProtocol(writer, {
    field_1: type,
    field_2: body.length,
    field_3: body.length,
    ...headers,
  })
  writer.appendBytes(new Uint8Array(body))
  return new Uint8Array(writer.getBuffer())
}

/** Number of values, how they are written, and how their levels are. */
export function firstHeader(values: number, encoding = PLAIN) {
  return { field_1: values, field_2: encoding, field_3: RLE, field_4: RLE }
}

const PLAIN = 0
const RLE = 3
export const DICTIONARY = 8

/** Little-endian. */
export function length(value: number): number[] {
  return [value & 0xff, (value >> 8) & 0xff, (value >> 16) & 0xff, value >>> 24]
}
