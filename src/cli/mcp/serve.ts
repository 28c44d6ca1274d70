import { createLogger } from '../../observability/logger.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { watchUncaught } from '../../runtime/uncaught.ts'
import { runGateway } from '../../service/mcp/stdio-gateway.ts'
import { loadMcpConfig } from './load-config.ts'
import type { McpValues } from './options.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** How long an end in order may take after an error that nothing caught, in milliseconds. */
const CLOSE_MS = 10_000

/** Serves the configured servers to one agent on stdin and stdout. */
export async function serveMcp(values: McpValues): Promise<number> {
  const { config, env } = loadMcpConfig(values)
  if (Object.keys(config.mcp.servers).length === 0) {
    // Whatever the level of the log is: its client shows a server that has no tools.
    const named = values.config ?? env['HAVERSACK_CONFIG'] ?? 'without --config or HAVERSACK_CONFIG'
    process.stderr.write(`haversack: this gateway has no servers: no [mcp.servers] (${named})\n`)
  }
  const logger = createLogger(config.log.level)
  // Servers run in process groups of their own: a signal has to end them too.
  const stop = new AbortController()
  const uncaught = watchUncaught(err => {
    logger.fatal({ err }, 'an error that nothing caught')
    stop.abort()
    setTimeout(() => process.exit(EXIT.failed), CLOSE_MS).unref()
  })
  for (const signal of SIGNALS) process.once(signal, () => stop.abort())
  const { stdin: input, stdout: output } = process
  const isOneContext = values.context === true
  await runGateway(config, { env, logger, input, output, stop: stop.signal, isOneContext })
  return uncaught.count === 0 ? EXIT.ok : EXIT.failed
}
