import { z } from 'zod'
import { endpointName } from './fingerprint.ts'
import { type PackedRows, ROW } from './packed-rows.ts'

/** Of the bytes below; another version's are not read. */
const VERSION = 1
/** Numbers stand at a multiple of this, so that they can be read in place. */
const ALIGNMENT = 8
const LENGTH_BYTES = 4

const instant = z.int().nonnegative()

/** A stretch of time of an endpoint whose figures were published once, by the first and last moment in it. */
const spanSchema = z.object({
  name: endpointName,
  first: instant,
  last: instant,
  sessions: z.int().nonnegative(),
  /** Tells the figures from others without having them: 16 hexadecimal digits. */
  digest: z.string().regex(/^[0-9a-f]{16}$/),
})

export type PublishedSpan = Readonly<z.output<typeof spanSchema>>

const headerSchema = z.object({
  version: z.literal(VERSION),
  member: z.string(),
  /** Whether the member took it back; then there are no rows. */
  withdrawn: z.boolean(),
  names: z.array(endpointName),
  spans: z.array(spanSchema),
})

/** What is kept of one member of a team. */
export interface UploadRecord {
  readonly member: string
  readonly withdrawn: boolean
  readonly rows: PackedRows
  /** All that was published of the member in this window, also what has been replaced or withdrawn since. */
  readonly spans: readonly PublishedSpan[]
}

/** As bytes: the length of a JSON header, the header, and the numbers of the rows as little-endian doubles. */
export function writeRecord({ member, withdrawn, rows, spans }: UploadRecord): Uint8Array {
  const header = Buffer.from(
    JSON.stringify({ version: VERSION, member, withdrawn, names: rows.names, spans }),
  )
  const start = aligned(LENGTH_BYTES + header.length)
  const bytes = new Uint8Array(start + rows.numbers.byteLength)
  new DataView(bytes.buffer).setUint32(0, header.length, true)
  bytes.set(header, LENGTH_BYTES)
  const numbers = rows.numbers
  bytes.set(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength), start)
  return bytes
}

/** `null` for what is no record of this version. */
export function readRecord(bytes: Uint8Array): UploadRecord | null {
  try {
    const { header, numbers } = split(bytes)
    const { member, withdrawn, names, spans } = headerSchema.parse(header)
    if (numbers.length !== names.length * ROW) return null
    return { member, withdrawn, rows: { names, numbers }, spans }
  } catch {
    return null
  }
}

/**
 * Only the rows, without checking all of the rest again: of bytes that `writeRecord` wrote.
 * @returns `null` for another version's, and for a withdrawn upload
 */
export function readRows(bytes: Uint8Array): PackedRows | null {
  try {
    const { header, numbers } = split(bytes)
    const { version, names, withdrawn } = header as z.output<typeof headerSchema>
    const isOurs = version === VERSION && numbers.length === names.length * ROW
    return isOurs && !withdrawn ? { names, numbers } : null
  } catch {
    return null
  }
}

function split(bytes: Uint8Array): { readonly header: unknown; readonly numbers: Float64Array } {
  const own = bytes.byteOffset % ALIGNMENT === 0 ? bytes : new Uint8Array(bytes)
  const length = new DataView(own.buffer, own.byteOffset).getUint32(0, true)
  const start = aligned(LENGTH_BYTES + length)
  const header: unknown = JSON.parse(
    Buffer.from(own.buffer, own.byteOffset + LENGTH_BYTES, length).toString(),
  )
  const count = (own.length - start) / ALIGNMENT
  return { header, numbers: new Float64Array(own.buffer, own.byteOffset + start, count) }
}

function aligned(length: number): number {
  return Math.ceil(length / ALIGNMENT) * ALIGNMENT
}
