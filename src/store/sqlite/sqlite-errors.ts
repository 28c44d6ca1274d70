import { fail } from '../failure.ts'
import type { Failure, FailureReason } from '../store.ts'

/** SQLite's primary result codes that mean something here (sqlite.org/rescode.html). */
const BUSY = 5
const LOCKED = 6
const READONLY = 8
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

/** What a client is told whatever is full: its own share must not tell it how full others' make the store. */
export const NO_ROOM = 'no room: what is kept is still needed'

/** The primary code of an error of `node:sqlite`; `undefined` for any other error. */
function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined
  return Number(error.errcode) & 0xff
}

/** Whether SQLite says that the file's contents make no sense. */
export function isDamage(error: unknown): boolean {
  const code = primaryCode(error)
  return code === CORRUPT || code === NOTADB
}

/** What a call answers whose statement failed; `undefined` if it was not SQLite: a bug. */
export function sqliteFailure(error: unknown): Failure | undefined {
  const code = primaryCode(error)
  if (code === undefined) return undefined
  if (code === FULL) return fail('full', NO_ROOM)
  return fail(REASONS[code] ?? 'failed', `the store's file: ${(error as Error).message}`)
}
