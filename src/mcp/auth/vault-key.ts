import { randomBytes } from 'node:crypto'
import { chmodSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../files/make-folder.ts'
import type { StoreKey } from '../../store/values/codec.ts'

const FILE = 'mcp-credentials.key'
const KEY_BYTES = 32

/**
 * The key of this data folder, made at its first use. Only its owner can read the file.
 * @throws if the folder cannot be written, or the file holds no key
 */
export function folderKey(folder: string): StoreKey {
  const file = join(folder, FILE)
  const key = readKey(file) ?? makeKey(folder, file)
  return { id: 'file', key }
}

function readKey(file: string): Buffer | null {
  let text: string
  try {
    text = readFileSync(file, 'latin1')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  const key = Buffer.from(text.trim(), 'base64')
  if (key.length !== KEY_BYTES) throw new Error(`${FILE} holds no key`)
  try {
    chmodSync(file, 0o600)
  } catch {
    // Another user's file; it was readable.
  }
  return key
}

/** Another process may make it at the same time: the first one wins, and its file is whole. */
function makeKey(folder: string, file: string): Buffer {
  makeFolder(folder)
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  writeFileSync(draft, `${randomBytes(KEY_BYTES).toString('base64')}\n`, { mode: 0o600 })
  try {
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft)
  }
  return readKey(file) as Buffer
}
