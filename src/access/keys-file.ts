import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { readPlainFile, readPlainText } from '../files/read-plain-file.ts'
import { type KeyRecord, keyRecordSchema } from './key-record.ts'

const keysFileSchema = z.strictObject({ version: z.literal(1), keys: z.array(keyRecordSchema) })

/** A keys file that cannot be used; the message names the file and every fault. */
export class KeysFileError extends Error {
  constructor(path: string, faults: readonly string[]) {
    super(`${path}: ${faults.join('; ')}`)
    this.name = 'KeysFileError'
  }
}

/**
 * The keys of a file.
 * @throws KeysFileError for one that is missing, not valid, or names an id or a key twice
 */
export function readKeysFile(path: string): KeyRecord[] {
  return parseKeys(path, readText(path))
}

function readText(path: string): string {
  try {
    return readPlainText(path)
  } catch (error) {
    throw new KeysFileError(path, [`cannot be read (${codeOf(error)})`])
  }
}

function parseKeys(path: string, text: string): KeyRecord[] {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    // Not the parser's message: it would quote the file.
    throw new KeysFileError(path, ['is not JSON'])
  }
  const parsed = keysFileSchema.safeParse(json)
  if (!parsed.success) {
    throw new KeysFileError(path, parsed.error.issues.map(faultOf))
  }
  const { keys } = parsed.data
  for (const field of ['id', 'sha256'] as const) {
    if (new Set(keys.map(key => key[field])).size < keys.length) {
      throw new KeysFileError(path, [`two keys have the same ${field}`])
    }
  }
  return keys
}

/**
 * Matches names of fields. The bound is too short for a key that was put in the place of a name.
 */
const FIELD_NAME = /^[a-z_\d]{1,20}$/

/** One fault with its place. It never quotes the file, except for names of fields. */
function faultOf(issue: z.core.$ZodIssue): string {
  const place = issue.path.join('.') || '(top level)'
  if (issue.code !== 'unrecognized_keys') return `${place}: ${issue.message}`
  const names = issue.keys.filter(key => FIELD_NAME.test(key)).map(key => `"${key}"`)
  return `${place}: unknown fields ${names.join(', ')}`.trimEnd()
}

/**
 * Reads the file, lets `change` make new records of it and replaces it in one step, so that a
 * reader sees the old file or the new one. A missing file counts as empty. One writer at a time.
 * @throws KeysFileError even if another process is writing
 */
export function changeKeysFile(
  path: string,
  change: (keys: KeyRecord[]) => readonly KeyRecord[],
): void {
  const next = `${path}.next`
  const descriptor = openExclusively(path, next)
  try {
    const keys = change(exists(path) ? readKeysFile(path) : [])
    const text = `${JSON.stringify({ version: 1, keys }, null, 2)}\n`
    parseKeys(path, text)
    // This continues after a short write, which is the only sign of a full disk.
    writeFileSync(descriptor, text)
    fsyncSync(descriptor)
    closeSync(descriptor)
    renameSync(next, path)
  } catch (error) {
    rmSync(next, { force: true })
    throw error
  }
}

/** The next version of the file is the lock too: the process that created it may write. */
function openExclusively(path: string, next: string): number {
  try {
    return openSync(next, 'wx', 0o600)
  } catch (error) {
    const reason =
      codeOf(error) === 'EEXIST'
        ? `another process is changing it; remove ${next} if none is`
        : `cannot be written (${codeOf(error)})`
    throw new KeysFileError(path, [reason])
  }
}

function exists(path: string): boolean {
  try {
    readPlainFile(path)
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw new KeysFileError(path, [`cannot be read (${codeOf(error)})`])
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown'
}
