import { processEnv } from '../../config/env.ts'
import { UsageError } from '../../console/command.ts'
import { secretReader } from '../../mcp/auth/secret-text.ts'
import type { McpValues } from './options.ts'

/**
 * Reads the key for `--service`: the file, which may change while the process runs, or else
 * `HAVERSACK_KEY`. A command line can be read by other users, so no option takes the key itself.
 * @returns gives the key as it is now; `undefined` for a service without keys
 * @throws UsageError if the file cannot be read
 */
export function serviceKey(values: Pick<McpValues, 'key-file'>): () => string | undefined {
  const file = values['key-file']
  if (file === undefined) return () => processEnv()['HAVERSACK_KEY'] || undefined
  try {
    return secretReader(`file:${file}`, {})
  } catch {
    throw new UsageError(`--key-file ${file} cannot be read`)
  }
}
