import { z } from 'zod'
import { endpointName, type Fingerprint, fingerprintSchema } from './fingerprint.ts'
import { linesOf, readLines, writeLines } from './lines.ts'

/** The version of the lines below; another version's are not read. */
const VERSION = 2

const instant = z.int().nonnegative()

const spanSchema = z.object({
  name: endpointName,
  /** The first and last moment in it, Unix milliseconds. */
  first: instant,
  last: instant,
  sessions: z.int().nonnegative(),
  /** Distinguishes the figures from others without having them: 16 hexadecimal digits. */
  digest: z.string().regex(/^[0-9a-f]{16}$/),
})

/** A stretch of time of an endpoint whose figures were published once. */
export type PublishedSpan = Readonly<z.output<typeof spanSchema>>

/** A row, and when it was uploaded: Unix milliseconds. */
export interface UploadedRow {
  readonly row: Fingerprint
  readonly at: number
}

const rowSchema = z.object({ row: fingerprintSchema, at: instant })

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
    const [first, ...rest] = readLines(bytes)
    const { rows: count, member, withdrawn } = headSchema.parse(first)
    const rows = z.array(rowSchema).parse(rest.slice(0, count))
    const spans = z.array(spanSchema).parse(rest.slice(count))
    return rows.length === count ? { member, withdrawn, rows, spans } : null
  } catch {
    return null
  }
}

/**
 * The rows of each record that `writeRecord` wrote, without a check. Other versions' records and
 * withdrawn uploads are left out. Each pass reads them again, so that only one member's rows are in
 * memory.
 */
export function rowsOfRecords(records: readonly Uint8Array[]): Iterable<readonly UploadedRow[]> {
  return {
    *[Symbol.iterator]() {
      for (const bytes of records) {
        const rows = readRows(bytes)
        if (rows !== null) yield rows
      }
    },
  }
}

function readRows(bytes: Uint8Array): readonly UploadedRow[] | null {
  try {
    const lines = linesOf(bytes)
    const { rows, withdrawn } = headSchema.parse(JSON.parse(lines[0]!))
    return withdrawn ? null : lines.slice(1, rows + 1).map(line => JSON.parse(line))
  } catch {
    return null
  }
}
