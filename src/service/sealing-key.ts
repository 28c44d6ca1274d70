import { randomBytes, randomUUID } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SEALING_KEY_BYTES } from '../mcp/fronts/modern/seal.ts'

const NAME = 'mcp-sealing.key'

/**
 * The key that seals what MCP clients keep for us. A data folder has one, so that all processes on
 * it read what each of them wrote, and restarts change nothing. Only the owner can read the file.
 * @throws Error for a file of another length, and for a folder that cannot be written
 */
export function loadSealingKey(folder: string): Uint8Array {
  const file = join(folder, NAME)
  const known = readKey(file)
  if (known !== null) return known
  mkdirSync(folder, { recursive: true })
  const draft = join(folder, `.${NAME}.${randomUUID()}`)
  writeFileSync(draft, randomBytes(SEALING_KEY_BYTES), { mode: 0o600, flag: 'wx' })
  try {
    // A link appears whole, and never replaces the key of another process.
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft)
  }
  const key = readKey(file)
  if (key === null) throw new Error(`${file} has vanished`)
  return key
}

function readKey(file: string): Uint8Array | null {
  try {
    const key = readFileSync(file)
    if (key.length !== SEALING_KEY_BYTES) throw new Error(`${file} is no sealing key`)
    return key
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
