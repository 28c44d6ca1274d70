import { isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  linkSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '../files/make-folder.ts'

/** Permissions of a file that was not there: such files may hold keys. */
const NEW_FILE_MODE = 0o600

function backupOf(file: string): string {
  return `${file}.haversack-backup`
}

/** Takes the place of a backup if there was no file. */
function absenceOf(file: string): string {
  return `${file}.haversack-was-absent`
}

/**
 * The text of a file without a byte order mark; `null` if there is none.
 * @throws Error for a link, a folder, or bytes that are no UTF-8, which a text cannot give back
 */
export function readConfigFile(file: string): string | null {
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return null
  checkPlain(file)
  return textOf(file)
}

function textOf(file: string): string {
  const bytes = readFileSync(file)
  if (!isUtf8(bytes)) throw new Error(`${file} is no text in UTF-8: change it by hand`)
  return bytes.toString('utf8').replace(BOM, '')
}

/** Editors of Windows put it first. It is no part of the text, but stays in the file. */
const BOM = /^\u{feff}/u

/**
 * Replaces a file as a whole, and keeps what it was beside it. Makes one if there was none
 * (`before` is `null`).
 * @param isNext whether both texts are made of what a backup has, which then stays as it is
 * @throws Error for a link, a file that may not be written, or one with another backup
 */
export function replaceWithBackup(
  file: string,
  before: string | null,
  after: string,
  isNext: (original: string | null) => boolean = () => false,
): void {
  const kept = [backupOf(file), absenceOf(file)].find(each => existsSync(each))
  if (kept !== undefined && !isNext(kept === backupOf(file) ? textOf(kept) : null)) {
    throw isThere(kept)
  }
  const write = checked(file, before, after)
  if (before === null) writeNew(absenceOf(file), '', NEW_FILE_MODE)
  else if (kept === undefined) {
    writeNew(backupOf(file), readFileSync(file, 'utf8'), lstatSync(file).mode)
  }
  write()
}

/**
 * Replaces a file as a whole, or makes one if there was none (`before` is `null`).
 * @throws Error for a link, a file that may not be written, or one that has changed
 */
export function replaceFile(file: string, before: string | null, after: string): void {
  checked(file, before, after)()
}

/** Checks that a file may be replaced. Returns what replaces it. */
function checked(file: string, before: string | null, after: string): () => void {
  if (readConfigFile(file) !== before) throw new Error(`${file} has just changed: try again`)
  if (before === null) {
    makeFolder(dirname(file), 0o777)
    return () => writeAtomic(file, after, NEW_FILE_MODE)
  }
  checkWritable(file)
  const { mode } = lstatSync(file)
  const whole = readFileSync(file, 'utf8')
  return () => writeAtomic(file, whole.slice(0, whole.length - before.length) + after, mode)
}

/** Whether `restore` has something to put back. */
export function hasBackup(file: string): boolean {
  return existsSync(backupOf(file)) || existsSync(absenceOf(file))
}

/**
 * Puts back what a file was before, or removes it if there was none. A file that is gone, or is as
 * it was, has nothing to lose.
 * @throws Error if there is no backup, or the file was changed since
 */
export function restore(
  file: string,
  isOurs: (text: string, before: string | null) => boolean,
): void {
  const backup = backupOf(file)
  const wasAbsent = existsSync(absenceOf(file))
  if (!wasAbsent && !existsSync(backup)) throw new Error(`there is no ${backup}`)
  const now = readConfigFile(file)
  const before = wasAbsent ? null : textOf(backup)
  if (now !== null) checkWritable(file)
  if (now !== null && now !== before && !isOurs(now, before)) {
    const what = wasAbsent ? 'remove it by hand' : `put back by hand what you want of ${backup}`
    throw new Error(`${file} was changed since: ${what}`)
  }
  if (!wasAbsent) {
    renameSync(backup, file)
    return
  }
  rmSync(file, { force: true })
  rmSync(absenceOf(file))
}

function checkPlain(file: string): void {
  if (!lstatSync(file).isFile()) throw new Error(`${file} is no plain file: name the file itself`)
}

function checkWritable(file: string): void {
  checkPlain(file)
  try {
    accessSync(file, constants.W_OK)
  } catch {
    throw new Error(`${file} may not be written`)
  }
  if ((lstatSync(file).mode & 0o222) === 0) throw new Error(`${file} may not be written`)
}

function isThere(kept: string): Error {
  return new Error(`${kept} is there already: --undo first, or remove it`)
}

/** Writes a whole file, or none if another process has just made one: one of the two continues. */
function writeNew(file: string, text: string, mode: number): void {
  writeBeside(file, text, mode, temporary => {
    try {
      linkSync(temporary, file)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw isThere(file)
      // A file system without links.
      renameSync(temporary, file)
      return
    }
    rmSync(temporary)
  })
}

function writeAtomic(file: string, text: string, mode: number): void {
  writeBeside(file, text, mode, temporary => renameSync(temporary, file))
}

/** Writes a file beside another one, for `put`, and leaves nothing of it. */
function writeBeside(
  file: string,
  text: string,
  mode: number,
  put: (temporary: string) => void,
): void {
  const temporary = `${file}.${randomUUID()}`
  try {
    writeFileSync(temporary, text, { flag: 'wx', mode: 0o600 })
    chmodSync(temporary, mode & 0o777)
    put(temporary)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}
