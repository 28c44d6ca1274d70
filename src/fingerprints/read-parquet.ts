import { parquetMetadata, parquetReadObjects, toJson } from 'hyparquet'
import { AppError } from '../core/base/errors.ts'
import { guardFooter, guardParquet } from './guard-parquet.ts'
import { UnsafeError } from './guard-thrift.ts'
import { COLUMN_NAMES } from './parquet-schema.ts'

/**
 * The rows of a Parquet file as objects, unchecked but for the names of their columns; more columns
 * than are known are left out. All that the file announces is looked at before anything is
 * unpacked.
 * @param maxRows of the file
 * @throws AppError `invalid_request` if it is no Parquet file, lacks columns, or announces too
 * much
 */
export async function readParquet(bytes: Uint8Array, maxRows: number): Promise<unknown[]> {
  // The reader takes a whole buffer, and these bytes may be a part of one.
  const own = new Uint8Array(bytes)
  try {
    guardFooter(own)
    const metadata = parquetMetadata(own.buffer, { geoparquet: false })
    guardParquet(own, metadata, maxRows)
    const columns = [...COLUMN_NAMES]
    const rows = await parquetReadObjects({ file: own.buffer, metadata, columns })
    // Whole numbers are big ones in Parquet.
    return rows.map(toJson)
  } catch (error) {
    const what = error instanceof UnsafeError ? error.message : 'cannot be read'
    throw new AppError('invalid_request', `the Parquet file ${what}`, {}, error)
  }
}
