import { z } from 'zod'
import { endpointName } from './fingerprint.ts'
import { MORE, type PackedRows, ROW } from './packed-rows.ts'

/** The version of the bytes below; another version's are not read. */
const VERSION = 1
/** Numbers stand at a multiple of this, so that they can be read in place. */
const ALIGNMENT = 8
const LENGTH_BYTES = 4

const instant = z.int().nonnegative()

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

const digest = z.string().regex(/^[0-9a-f]{16}$/)
/** First, last, sessions and digest: there are thousands. */
const spanSchema = z.tuple([instant, instant, z.int().nonnegative(), digest])

const headSchema = z.object({
  version: z.literal(VERSION),
  member: z.string(),
  /** Whether the member took it back; then there are no rows. */
  withdrawn: z.boolean(),
  /**
   * Names of the rows' endpoints, each with how many rows it represents that follow one another.
   */
  names: z.array(z.tuple([endpointName, z.int().positive()])),
  /**
   * Histograms and rates of all rows, little-endian in Base64; absent if there are none. A version
   * without them reads the rest.
   */
  more: z.base64().optional(),
})

/** By their endpoints. */
const spansSchema = z.array(z.tuple([endpointName, z.array(spanSchema)]))

/** The record of one member of a team. */
export interface UploadRecord {
  readonly member: string
  readonly withdrawn: boolean
  readonly rows: PackedRows
  /**
   * All published spans of the member in this window, also those that were withdrawn since. Of
   * spans that lie in one another, only the outermost.
   */
  readonly spans: readonly PublishedSpan[]
}

/**
 * As bytes: the lengths of two texts, the texts, and the numbers of the rows as little-endian
 * doubles. The texts are JSON: one is what a merge needs, the other the spans.
 */
export function writeRecord({ member, withdrawn, rows, spans }: UploadRecord): Uint8Array {
  const { names, numbers, more } = rows
  const known = { version: VERSION, member, withdrawn, names: runsOf(names) }
  const head = Buffer.from(
    JSON.stringify({
      ...known,
      ...(more && { more: Buffer.from(more.buffer).toString('base64') }),
    }),
  )
  const rest = Buffer.from(JSON.stringify(packSpans(spans)))
  const start = aligned(2 * LENGTH_BYTES + head.length + rest.length)
  const bytes = new Uint8Array(start + numbers.byteLength)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, head.length, true)
  view.setUint32(LENGTH_BYTES, rest.length, true)
  bytes.set(head, 2 * LENGTH_BYTES)
  bytes.set(rest, 2 * LENGTH_BYTES + head.length)
  bytes.set(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength), start)
  return bytes
}

/** Returns `null` if the bytes are not a record of this version. */
export function readRecord(bytes: Uint8Array): UploadRecord | null {
  try {
    const { head, rest, numbers } = split(bytes)
    const { member, withdrawn, names, more } = headSchema.parse(JSON.parse(head))
    const rows = rowsOf(names, numbers, more)
    const spans = unpackSpans(spansSchema.parse(JSON.parse(rest)))
    return rows && { member, withdrawn, rows, spans }
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
    const { head, numbers } = split(bytes)
    const { version, names, withdrawn, more } = JSON.parse(head) as z.output<typeof headSchema>
    return version === VERSION && !withdrawn ? rowsOf(names, numbers, more) : null
  } catch {
    return null
  }
}

type Runs = z.output<typeof headSchema>['names']

function runsOf(names: readonly string[]): Runs {
  const runs: Runs = []
  for (const name of names) {
    const last = runs.at(-1)
    if (last?.[0] === name) last[1] += 1
    else runs.push([name, 1])
  }
  return runs
}

/** `null` if there are not as many names as numbers are for. */
function rowsOf(runs: Runs, numbers: Float64Array, base64?: string): PackedRows | null {
  const count = runs.reduce((sum, [, length]) => sum + length, 0)
  if (numbers.length !== count * ROW) return null
  const names = runs.flatMap(([name, length]) => Array<string>(length).fill(name))
  if (base64 === undefined) return { names, numbers }
  const more = new Uint16Array(new Uint8Array(Buffer.from(base64, 'base64')).buffer)
  return more.length === count * MORE ? { names, numbers, more } : null
}

function packSpans(spans: readonly PublishedSpan[]): z.input<typeof spansSchema> {
  const byEndpoint = Map.groupBy(spans, ({ name }) => name)
  return [...byEndpoint].map(([name, own]) => [
    name,
    own.map(span => [span.first, span.last, span.sessions, span.digest]),
  ])
}

function unpackSpans(packed: z.output<typeof spansSchema>): PublishedSpan[] {
  return packed.flatMap(([name, own]) =>
    own.map(([first, last, sessions, digest]) => ({ name, first, last, sessions, digest })),
  )
}

function split(bytes: Uint8Array) {
  const own = bytes.byteOffset % ALIGNMENT === 0 ? bytes : new Uint8Array(bytes)
  const view = new DataView(own.buffer, own.byteOffset, own.byteLength)
  const headEnd = 2 * LENGTH_BYTES + view.getUint32(0, true)
  const restEnd = headEnd + view.getUint32(LENGTH_BYTES, true)
  const text = Buffer.from(own.buffer, own.byteOffset, restEnd)
  const start = aligned(restEnd)
  const count = (own.length - start) / ALIGNMENT
  return {
    head: text.toString('utf8', 2 * LENGTH_BYTES, headEnd),
    rest: text.toString('utf8', headEnd),
    numbers: new Float64Array(own.buffer, own.byteOffset + start, count),
  }
}

function aligned(length: number): number {
  return Math.ceil(length / ALIGNMENT) * ALIGNMENT
}
