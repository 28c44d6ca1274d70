import type { DatabaseSync } from 'node:sqlite'
import { AppError } from '../../core/base/errors.ts'
import { countLineFeeds, countLines, cutLines, resolveLines } from '../../core/parts/lines.ts'
import { mayBeNumbered } from '../../core/parts/numbered-lines.ts'
import type { Part, PartRange, PartSelector } from '../../core/parts/part.ts'
import { resolveBytes } from '../../core/parts/range.ts'
import { selectPart } from '../../core/parts/select-part.ts'
import { isCutElsewhere, ownPart, type WholeForPart } from '../parts/select-elsewhere.ts'
import type { Failure, Reference, Result, StoredBody, StoredPart } from '../store.ts'
import { UnreadableError } from '../values/codec.ts'
import { fail, partFailure } from '../values/failure.ts'
import type { StoreEvent } from '../values/store-event.ts'
import { type Bodies, kept } from './bodies.ts'
import type { BodyRow } from './body-row.ts'
import { CHUNK_BYTES, type Chunks } from './chunks.ts'
import type { Count } from './counters.ts'
import { DamagedFileError } from './sqlite-errors.ts'

/** Reads bodies and parts of them. Runs inside a read transaction of the caller's. */
export interface Reader {
  get(reference: Reference, now: number): Result<StoredBody>
  /** A part of a body. Returns all of its chunks instead if it is large and must be searched. */
  part(reference: Reference, selector: PartSelector, now: number): Result<StoredPart | WholeForPart>
  /**
   * The damaged ones of up to `limit` bodies after `cursor`, and the next cursor; stops early after
   * `STEP_BYTES`.
   */
  check(limit: number, cursor: number): Checked
  /**
   * Whether the body is unchanged; also true if its key is missing, since it cannot be checked
   * then.
   */
  readable(row: BodyRow): boolean
}

/** What one step of a check reads, about 30 ms. */
const STEP_BYTES = 8 * 1024 * 1024
/** What a body costs beside its bytes. */
const BODY_BYTES = 8192

export interface Checked {
  readonly checked: number
  readonly damaged: readonly BodyRow[]
  readonly cursor: number | null
}

export interface ReaderDeps {
  readonly bodies: Bodies
  readonly chunks: Chunks
  readonly count: Count
  /** Called for a body that cannot be read. */
  onUnreadable(row: BodyRow, error: UnreadableError): void
}

export function createReader(database: DatabaseSync, deps: ReaderDeps): Reader {
  const { bodies, chunks, count } = deps
  const after = database.prepare('SELECT id FROM body WHERE id > ? ORDER BY id LIMIT ?')

  /** Finds the body and lets `use` read it. */
  function withBody<T>(reference: Reference, now: number, use: (row: BodyRow) => T): T | Failure {
    const row = bodies.find(reference, now)
    if ('ok' in row) {
      count('misses')
      return row
    }
    try {
      const result = use(row)
      bodies.markUsed(row)
      count('hits')
      return result
    } catch (error) {
      if (error instanceof AppError) return partFailure(error)
      if (!(error instanceof UnreadableError)) throw error
      deps.onUnreadable(row, error)
      return fail(
        'gone',
        error.missingKey === null
          ? `the original ${reference.ref} was damaged and is not given back`
          : `the key of the original ${reference.ref} is not configured`,
      )
    }
  }

  function readable(row: BodyRow): boolean {
    try {
      chunks.readAll(row)
      return true
    } catch (error) {
      if (!(error instanceof UnreadableError)) throw error
      return error.missingKey !== null
    }
  }

  return {
    readable,
    get: (reference, now) =>
      withBody(reference, now, row => ({ ok: true, ...about(row), body: chunks.readAll(row) })),
    part: (reference, selector, now) =>
      withBody(reference, now, row => ({
        ok: true,
        ...about(row),
        ...(isCutElsewhere(selector, row.bytes)
          ? { whole: chunks.readPacked(row) }
          : { part: ownPart(partOf(chunks, row, selector)) }),
      })),
    check(limit, cursor) {
      const damaged: BodyRow[] = []
      let checked = 0
      let bytes = 0
      for (const { id } of after.iterate(cursor, limit)) {
        const row = bodies.byId(Number(id))
        checked++
        if (row === undefined) continue
        if (!bodies.isListed(row)) throw new DamagedFileError('a body is not in its index')
        if (!row.purged && !readable(row)) damaged.push(row)
        bytes += row.bytes + BODY_BYTES
        if (checked === limit || bytes >= STEP_BYTES) return { checked, damaged, cursor: row.id }
      }
      return { checked, damaged, cursor: null }
    },
  }
}

/** Only the chunks that the part lies in, if the selector allows it. */
function partOf(chunks: Chunks, row: BodyRow, selector: PartSelector): Part {
  if (selector.kind === 'bytes') {
    const range = resolveBytes(selector.range, row.bytes)
    const from = Math.floor(range.first / CHUNK_BYTES)
    const bytes = chunks.read(row, from, Math.floor(range.last / CHUNK_BYTES))
    const start = range.first - from * CHUNK_BYTES
    const content = bytes.subarray(start, start + range.last - range.first + 1)
    return { kind: 'bytes', content, ...range }
  }
  if (selector.kind === 'lines' && row.bytes > 0) {
    const part = linesByChunks(chunks, row, selector.range)
    if (part !== null) return part
  }
  return selectPart(chunks.readAll(row), selector)
}

/**
 * Lines out of the chunks that they lie in. Line numbers in the file have no checksum. So they are
 * compared with the content, which has one. Returns `null` if they contradict it.
 */
function linesByChunks(chunks: Chunks, row: BodyRow, wanted: PartRange): Part | null {
  // Lines that are named by their numbers are found by reading them.
  if (mayBeNumbered(chunks.read(row, 0, 0))) return null
  const last = chunks.last(row)
  const total = chunks.lineAt(row, last) - 1 + countLines(chunks.read(row, last, last))
  if (total !== row.lines) return null
  const range = resolveLines(wanted, total)
  const from = chunks.atLine(row, range.first - 1)
  const to = chunks.atLine(row, range.last)
  if (to.chunk < from.chunk) return null
  const bytes = chunks.read(row, from.chunk, to.chunk)
  const isTrue =
    to.chunk === last
      ? from.line - 1 + countLines(bytes) === total
      : from.line + countLineFeeds(bytes) === chunks.lineAt(row, to.chunk + 1)
  if (!isTrue) return null
  const content = cutLines(bytes, from.line, range.first, range.last)
  return { kind: 'lines', content, ...range }
}

function about(row: BodyRow) {
  return { ...kept(row), media_type: row.mediaType, created_at: row.createdAt }
}

/** Bodies that turned out damaged, and keys that were missing; each is reported once. */
export class Faults {
  readonly #count: Count
  readonly #onEvent: (event: StoreEvent) => void
  readonly #damaged = new Set<number>()
  readonly #missing = new Set<string>()

  constructor(count: Count, onEvent: (event: StoreEvent) => void) {
    this.#count = count
    this.#onEvent = onEvent
  }

  /** Whether `removeDamaged` has something to look at. */
  get hasDamage(): boolean {
    return this.#damaged.size > 0
  }

  noteUnreadable(row: BodyRow, { missingKey }: UnreadableError): void {
    if (missingKey === null) this.noteDamage(row)
    else this.noteMissing(missingKey)
  }

  noteMissing(key_id: string): void {
    if (this.#missing.has(key_id)) return
    this.#missing.add(key_id)
    this.#onEvent({ kind: 'missing_key', key_id })
  }

  noteDamage(row: BodyRow): void {
    if (this.#damaged.has(row.id)) return
    this.#damaged.add(row.id)
    this.#count('damaged')
    const hash = Buffer.from(row.hash).toString('hex')
    this.#onEvent({ kind: 'damaged_body', tenant: row.tenantName, hash })
  }

  /**
   * Removes bodies that were found damaged and still are; returns how many. The row may have gone
   * since, or a put may have repaired it, and its number may be another body's.
   */
  removeDamaged(bodies: Bodies, reader: Reader, now: number): number {
    let removed = 0
    for (const id of this.#damaged) {
      const found = bodies.byId(id)
      if (found === undefined || reader.readable(found)) continue
      bodies.remove(found, 'tombstone', now)
      removed++
    }
    this.#damaged.clear()
    return removed
  }
}
