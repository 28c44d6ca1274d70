import { hkdfSync } from 'node:crypto'
import { folderKey } from '../mcp/auth/vault-key.ts'
import { SEALING_KEY_BYTES } from '../mcp/fronts/modern/seal.ts'

const PURPOSE = 'haversack mcp: states of calls and handles of tasks'

/**
 * The key that seals what MCP clients keep for us. It is derived from that of the data folder: all
 * processes on it read what each of them wrote, and restarts change nothing.
 * @throws if the folder cannot be written, or its key cannot be read
 */
export function loadSealingKey(folder: string): Uint8Array {
  const { key } = folderKey(folder)
  return new Uint8Array(hkdfSync('sha256', key, '', PURPOSE, SEALING_KEY_BYTES))
}
