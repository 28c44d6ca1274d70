import { createLogger } from '../../observability/logger.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { runGateway } from '../../service/stdio-gateway.ts'
import type { ValuesOf } from '../command.ts'
import { loadMcpConfig, type mcpOptions } from './options.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Serves the configured servers to one agent on stdin and stdout. */
export async function serveMcp(values: ValuesOf<typeof mcpOptions>): Promise<number> {
  const { config, env } = loadMcpConfig(values)
  const logger = createLogger(config.log.level)
  // Servers run in process groups of their own: a signal has to end them too.
  const stop = new AbortController()
  for (const signal of SIGNALS) process.once(signal, () => stop.abort())
  const { stdin: input, stdout: output } = process
  await runGateway(config, { env, logger, input, output, stop: stop.signal })
  return EXIT.ok
}
