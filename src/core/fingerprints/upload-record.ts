import { z } from 'zod'
import type { Fingerprint } from './fingerprint.ts'
import { linesOf, writeLines } from './lines.ts'

/** The version of the lines below; another version's are not read. */
const VERSION = 2

/** A stretch of time of an endpoint whose figures were published once. */
export interface PublishedSpan {
  readonly name: string
  /** The first and last moment in it, Unix milliseconds. */
  readonly first: number
  readonly last: number
  readonly sessions: number
  /** Distinguishes the figures from others without having them: 16 hexadecimal digits. */
  readonly digest: string
}

/** A row, and when it was uploaded: Unix milliseconds. */
export interface UploadedRow {
  readonly row: Fingerprint
  readonly at: number
}

const headSchema = z.object({
  version: z.literal(VERSION),
  member: z.string(),
  /** Whether the member took it back; then there are no rows. */
  withdrawn: z.boolean(),
  /** How many lines after this one are rows; the rest are spans. */
  rows: z.int().nonnegative(),
})

/** The record of one member of a team. */
export interface UploadRecord {
  readonly member: string
  readonly withdrawn: boolean
  readonly rows: readonly UploadedRow[]
  /**
   * All published spans of the member in this window, also those that were withdrawn since. Of
   * spans that lie in one another, only the outermost.
   */
  readonly spans: readonly PublishedSpan[]
}

/** A record as compressed lines: a head, the rows, the spans. */
export function writeRecord({ member, withdrawn, rows, spans }: UploadRecord): Uint8Array {
  const head = { version: VERSION, member, withdrawn, rows: rows.length }
  return writeLines([head, ...rows, ...spans])
}

/** Returns `null` if the bytes are not a record of this version. */
export function readRecord(bytes: Uint8Array): UploadRecord | null {
  try {
    const lines = linesOf(bytes)
    const { rows, ...head } = headOf(lines)
    return {
      member: head.member,
      withdrawn: head.withdrawn,
      rows: lines.slice(1, rows + 1).map(line => JSON.parse(line)),
      spans: lines.slice(rows + 1).map(line => JSON.parse(line)),
    }
  } catch {
    return null
  }
}

function headOf(lines: readonly string[]) {
  return headSchema.parse(JSON.parse(lines[0] ?? ''))
}

/**
 * The rows of each record. Other versions' records and withdrawn uploads are left out. Each pass
 * reads them again, so that only one member's rows are in memory.
 */
export function rowsOfRecords(records: readonly Uint8Array[]): Iterable<readonly UploadedRow[]> {
  return {
    *[Symbol.iterator]() {
      for (const bytes of records) {
        const record = readRecord(bytes)
        if (record !== null && !record.withdrawn) yield record.rows
      }
    },
  }
}
