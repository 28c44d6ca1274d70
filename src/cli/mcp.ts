import { homedir } from 'node:os'
import { join } from 'node:path'
import { configSchema } from '../config/config.ts'
import { processEnv } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import { createLogger } from '../observability/logger.ts'
import { EXIT } from '../runtime/exit-codes.ts'
import { runGateway } from '../service/stdio-gateway.ts'
import { defineCommand } from './command.ts'

/** Where originals are kept if nothing names a folder: agents start servers in any folder. */
const DATA_DIR = join(homedir(), '.haversack')

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export const mcpCommand = defineCommand({
  name: 'mcp',
  summary: 'Serve the MCP servers of the configuration to one agent, with smaller results',
  details:
    'Speaks MCP on stdin and stdout. The servers are those of [mcp.servers] in the TOML file ' +
    'that --config or HAVERSACK_CONFIG names.',
  operands: '',
  maxOperands: 0,
  options: {
    config: { type: 'string', value: 'FILE', help: 'The TOML file (default: HAVERSACK_CONFIG)' },
    'data-dir': {
      type: 'string',
      value: 'FOLDER',
      help: 'Keep originals here (default: data_dir of the configuration, else ~/.haversack)',
    },
  },
  async run(values) {
    const env = processEnv()
    const config = loadConfig({
      env: values.config === undefined ? env : { ...env, HAVERSACK_CONFIG: values.config },
      overrides: {},
    })
    const isDefault = config.data_dir === configSchema.parse({}).data_dir
    const data_dir = values['data-dir'] ?? (isDefault ? DATA_DIR : config.data_dir)
    const logger = createLogger(config.log.level)
    // Servers run in process groups of their own: a signal has to end them too.
    const stop = new AbortController()
    for (const signal of SIGNALS) process.once(signal, () => stop.abort())
    const { stdin: input, stdout: output } = process
    await runGateway({ ...config, data_dir }, { env, logger, input, output, stop: stop.signal })
    return EXIT.ok
  },
})
