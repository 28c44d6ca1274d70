import { join } from 'node:path'
import { type Config, configSchema } from '../../config/config.ts'
import { type Env, processEnv } from '../../config/env.ts'
import { loadConfig } from '../../config/load.ts'
import { homeFolder } from '../../config/user-folders.ts'
import type { ConfigValues } from './options.ts'

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
  const home = homeFolder()
  // Where earlier versions kept originals and tokens of servers.
  const usual = isDefault && home !== null ? join(home, '.haversack') : config.data_dir
  const data_dir = values['data-dir'] ?? usual
  return { config: { ...config, data_dir }, env }
}
