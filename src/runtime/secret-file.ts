import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '../files/make-folder.ts'

/** A file with a secret that cannot be used. */
export class SecretFileError extends Error {}

/**
 * The secret of a file, which all processes on its folder share. If there is none yet, it is made,
 * readable to its owner only.
 * @param bytes its length
 * @throws SecretFileError if the file holds something else, or cannot be read or written
 */
export function loadSecret(file: string, bytes: number): Uint8Array {
  const known = readSecret(file, bytes)
  if (known !== null) return known
  const draft = `${file}.${randomBytes(4).toString('hex')}`
  try {
    makeFolder(dirname(file))
    writeFileSync(draft, randomBytes(bytes), { mode: 0o600, flag: 'wx', flush: true })
    try {
      // If two processes start at once, the first wins, and no reader sees half a key.
      linkSync(draft, file)
    } finally {
      unlinkSync(draft)
    }
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw new SecretFileError(`${file}: cannot be written`)
  }
  const secret = readSecret(file, bytes)
  if (secret === null) throw new SecretFileError(`${file}: cannot be written`)
  return secret
}

/**
 * Puts another secret in a file, in one step; the one that was there goes to the file `before`.
 * @throws SecretFileError
 */
export function replaceSecret(file: string, secret: Uint8Array, before: string): void {
  const draft = `${file}.${randomBytes(4).toString('hex')}`
  try {
    makeFolder(dirname(file))
    writeFileSync(draft, secret, { mode: 0o600, flag: 'wx', flush: true })
    const old = readSecret(file, secret.byteLength)
    if (old !== null) writeFileSync(before, old, { mode: 0o600, flush: true })
    renameSync(draft, file)
  } catch (error) {
    if (error instanceof SecretFileError) throw error
    throw new SecretFileError(`${file}: cannot be written`)
  }
}

/** The secret; `null` if there is none. @throws SecretFileError as `loadSecret` does */
export function readSecret(file: string, bytes: number): Uint8Array | null {
  let secret: Buffer
  try {
    secret = readFileSync(file)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw new SecretFileError(`${file}: cannot be read`)
  }
  if (secret.length !== bytes) throw new SecretFileError(`${file}: is not a key of ${bytes} bytes`)
  return secret
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
