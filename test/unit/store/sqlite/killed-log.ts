import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { tempFolder } from '../inline-store.ts'

export const HEADER_BYTES = 32
export const FRAME_BYTES = 24 + 4096

/** A database with a log, and what changes it while it is open. */
export interface LoggedDatabase {
  readonly database: DatabaseSync
  readonly path: string
  /** A transaction that changes a page, or several; returns the frames of the log after it. */
  write(bytes?: number): number
}

/** A database that copies nothing of its log into the main file by itself. */
export function loggedDatabase(): LoggedDatabase {
  const path = join(tempFolder(), 'store.sqlite')
  const database = new DatabaseSync(path)
  database.exec('PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0')
  database.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, data BLOB)')
  const insert = database.prepare('INSERT INTO t (data) VALUES (zeroblob(?))')
  const frames = () => (statSync(`${path}-wal`).size - HEADER_BYTES) / FRAME_BYTES
  return {
    database,
    path,
    write(bytes = 10) {
      insert.run(bytes)
      return frames()
    },
  }
}

/** Copies the files as a process leaves them that is killed now. Returns the main file's path. */
export function killedNow(path: string, suffixes: readonly string[] = ['', '-wal', '-shm']) {
  const copy = join(tempFolder(), 'store.sqlite')
  for (const suffix of suffixes) {
    if (existsSync(path + suffix)) copyFileSync(path + suffix, copy + suffix)
  }
  return copy
}

/**
 * What a killed process leaves after five transactions, the fourth of several frames.
 * @returns the main file's path, and the frames of the log after each transaction
 */
export function killedAfterWrites() {
  const { database, path, write } = loggedDatabase()
  const commits = [write(), write(), write(), write(20_000), write()] as const
  const copy = killedNow(path)
  database.close()
  return { path: copy, commits }
}

/** Changes the bytes of a file. */
export function edit(path: string, change: (bytes: Buffer) => void): void {
  const bytes = readFileSync(path)
  change(bytes)
  writeFileSync(path, bytes)
}

/** Offset of a byte of a frame, which counts from 1, in the log. */
export function inFrame(frame: number, byte: number): number {
  return HEADER_BYTES + (frame - 1) * FRAME_BYTES + byte
}

/** SQLite's checksum of a log or its index, over words in either byte order. */
export function walSum(
  bytes: Buffer,
  isBig: boolean,
  [first, second]: readonly [number, number] = [0, 0],
): [number, number] {
  const word = (at: number) => BigInt(isBig ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at))
  let a = BigInt(first)
  let b = BigInt(second)
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + word(at) + b) & 0xffff_ffffn
    b = (b + word(at + 4) + a) & 0xffff_ffffn
  }
  return [Number(a), Number(b)]
}
