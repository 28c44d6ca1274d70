import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Config, configSchema } from '../../config/config.ts'
import { type Env, processEnv } from '../../config/env.ts'
import { loadConfig } from '../../config/load.ts'
import type { ConfigValues } from './options.ts'

/** Where originals and tokens are kept if nothing names a folder: agents start servers in any. */
const DATA_DIR = join(homedir(), '.haversack')

/** The configuration that an action of `haversack mcp` works with. */
export function loadMcpConfig(values: ConfigValues): {
  config: Config
  env: Env
} {
  const env = processEnv()
  const config = loadConfig({
    env: values.config === undefined ? env : { ...env, HAVERSACK_CONFIG: values.config },
    overrides: {},
  })
  const isDefault = config.data_dir === configSchema.parse({}).data_dir
  const data_dir = values['data-dir'] ?? (isDefault ? DATA_DIR : config.data_dir)
  return { config: { ...config, data_dir }, env }
}
