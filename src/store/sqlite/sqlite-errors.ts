import type { Failure, FailureReason } from '../store.ts'
import { fail } from '../values/failure.ts'

/** SQLite's primary result codes that are handled here (sqlite.org/rescode.html). */
const BUSY = 5
const LOCKED = 6
const READONLY = 8
const IOERR = 10
const CORRUPT = 11
const FULL = 13
const CANTOPEN = 14
const NOTADB = 26

const REASONS: Readonly<Record<number, FailureReason>> = {
  [BUSY]: 'busy',
  [LOCKED]: 'busy',
  [READONLY]: 'read_only',
  [CANTOPEN]: 'read_only',
}

/**
 * Codes of `IOERR` that mean that the file cannot be read: bad sectors, a file cut short.
 */
const UNREADABLE_IO: ReadonlySet<number> = new Set([1, 2, 32, 33].map(part => IOERR | (part << 8)))
/** Codes of failed writes. The file can still be read, so the connection stays. */
const WRITING_IO: ReadonlySet<number> = new Set(
  [3, 4, 5, 6, 10, 13, 19].map(part => IOERR | (part << 8)),
)
/**
 * Codes that no statement of ours causes in a sound file: missing tables, rows that contradict each
 * other.
 */
const ODD: ReadonlySet<number> = new Set([1, 2, 17, 18, 19, 20, 24])

/** A file that SQLite opens, but that is not sound. */
export class DamagedFileError extends Error {}

/**
 * The answer to a client if its share or the store is full. The client must not learn how much
 * other tenants keep.
 */
export const NO_ROOM = 'no room: what is kept is still needed'

/** The primary code of an error of `node:sqlite`; `undefined` for any other error. */
function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined
  return Number(error.errcode) & 0xff
}

function extendedCode(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0
}

/** Whether the file's contents make no sense, or cannot be read. */
export function isDamage(error: unknown): boolean {
  if (error instanceof DamagedFileError) return true
  const code = primaryCode(error)
  return code === CORRUPT || code === NOTADB || UNREADABLE_IO.has(extendedCode(error))
}

/** Whether the error may be damage. A check of the whole file decides. */
export function isOdd(error: unknown): boolean {
  return ODD.has(primaryCode(error) ?? 0)
}

/** Whether the connection cannot be used any more. The file may still be sound. */
export function isLostConnection(error: unknown): boolean {
  return primaryCode(error) === IOERR && !WRITING_IO.has(extendedCode(error))
}

/** Whether SQLite takes the file for one that must not be written. */
export function isReadOnly(error: unknown): boolean {
  return extendedCode(error) === READONLY
}

/**
 * The answer of a call whose statement failed; `undefined` if the error is not SQLite's, and so a
 * bug.
 */
export function sqliteFailure(error: unknown): Failure | undefined {
  const code = primaryCode(error)
  if (code === undefined) return undefined
  if (code === FULL) return fail('full', NO_ROOM)
  return fail(REASONS[code] ?? 'failed', `the store's file: ${(error as Error).message}`)
}
