import type { Config } from '../config/config.ts'
import { processEnv } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import type { Options, ValuesOf } from './command.ts'

/** The data folder that a command reads beside a running service, or without one. */
export const dataOption = {
  data: { type: 'string', value: 'FOLDER', help: 'Data folder (default HAVERSACK_DATA_DIR)' },
} as const satisfies Options

/** The configuration of this process, with the data folder of `dataOption`. */
export function loadDataConfig({ data }: ValuesOf<typeof dataOption>): Config {
  const overrides = data === undefined ? {} : { data_dir: data }
  return loadConfig({ env: processEnv(), overrides, insecure: true })
}
