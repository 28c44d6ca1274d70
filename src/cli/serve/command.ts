import { defineCommand } from '../../console/command.ts'
import { wholeNumber } from '../../console/options.ts'
import { runService } from '../../service/lifecycle.ts'

export const serveCommand = defineCommand({
  name: 'serve',
  outlivesReader: true,
  details:
    'Settings come from HAVERSACK_* and the TOML file that --config or HAVERSACK_CONFIG names.',
  examples: ['serve --port 8787', 'serve --config haversack.toml'],
  operands: '',
  maxOperands: 0,
  options: {
    config: {
      type: 'string',
      value: 'FILE',
      help: 'The TOML file (default HAVERSACK_CONFIG); config.example.toml has every setting',
    },
    host: { type: 'string', value: 'ADDRESS', help: 'Address to listen on (default 127.0.0.1)' },
    port: wholeNumber({
      value: 'PORT',
      help: 'Port to listen on (default 8787; 0 for a free one)',
      min: 0,
      max: 65_535,
    }),
    insecure: { type: 'boolean', help: 'Listen on a reachable address without keys' },
  },
  run(values) {
    const { config, host, port } = values
    return runService({
      ...(config === undefined ? {} : { file: config }),
      overrides: {
        ...(host === undefined ? {} : { host }),
        ...(port === undefined ? {} : { port }),
      },
      insecure: values.insecure,
    })
  },
})
