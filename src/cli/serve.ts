import { runService } from '../service/lifecycle.ts'
import { type Command, text, UsageError } from './command.ts'

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Start the service',
  details: 'Settings come from HAVERSACK_* and the TOML file that HAVERSACK_CONFIG names.',
  operands: '',
  maxOperands: 0,
  options: {
    host: { type: 'string', value: 'ADDRESS', help: 'Address to listen on (default 127.0.0.1)' },
    port: {
      type: 'string',
      value: 'PORT',
      help: 'Port to listen on (default 8787; 0 for a free one)',
    },
    insecure: { type: 'boolean', help: 'Listen on a reachable address without keys' },
  },
  run(values) {
    const host = text(values, 'host')
    const port = text(values, 'port')
    if (port !== undefined && !/^\d{1,5}$/.test(port)) throw new UsageError('--port takes a number')
    return runService({
      overrides: {
        ...(host === undefined ? {} : { host }),
        ...(port === undefined ? {} : { port: Number(port) }),
      },
      insecure: values['insecure'] === true,
    })
  },
}
