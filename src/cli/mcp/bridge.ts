import { randomUUID } from 'node:crypto'
import { repositoryName } from '../../config/layers/repository.ts'
import { UsageError } from '../../console/command.ts'
import { Bridge } from '../../mcp/bridge/bridge.ts'
import { ServiceEndpoint } from '../../mcp/bridge/service-endpoint.ts'
import { CONTEXT_HEADER } from '../../mcp/client/contexts/context-of.ts'
import { serveLines } from '../../mcp/fronts/line-front.ts'
import { SYSTEM_CLOCK } from '../../mcp/upstream/clock.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { watchUncaught } from '../../runtime/uncaught.ts'
import type { McpValues } from './options.ts'
import { serviceKey } from './service-key.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Serves one agent on stdin and stdout by a running service: nothing is held here. */
export async function bridgeMcp(values: McpValues): Promise<number> {
  const url = endpointUrl(values)
  const key = serviceKey(values)
  const project = repositoryName(process.cwd())
  const context = {
    ...(values.context === true && { [CONTEXT_HEADER]: `connection ${randomUUID()}` }),
    ...(project !== undefined && { 'x-haversack-project': project }),
  }
  const stop = new AbortController()
  const endpoint = new ServiceEndpoint({
    url,
    clock: SYSTEM_CLOCK,
    headers() {
      const own = key()
      return own === undefined ? context : { ...context, 'x-haversack-key': own }
    },
    onBug: logBug,
    onReachable: isReachable => log(`${url.origin} ${isReachable ? 'answers' : 'does not answer'}`),
  })
  const uncaught = watchUncaught(error => {
    logBug(error)
    stop.abort()
  })
  for (const signal of SIGNALS) process.once(signal, () => stop.abort())
  const { stdin: input, stdout: output } = process
  await serveLines({ input, output, stop: stop.signal }, write => new Bridge(endpoint, write))
  return uncaught.count === 0 ? EXIT.ok : EXIT.failed
}

/** @throws UsageError if the service is none that can be reached by HTTP */
function endpointUrl({ service = '', server }: McpValues): URL {
  const url = URL.parse(service)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError('--service takes a URL with http or https')
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError('--service takes no credentials: use HAVERSACK_KEY or --key-file')
  }
  const base = url.pathname.replace(/\/+$/, '').replace(/\/mcp$/, '')
  const only = server === undefined ? '' : `/servers/${encodeURIComponent(server)}`
  url.pathname = `${base}/mcp${only}`
  return url
}

function logBug(error: unknown): void {
  log(error instanceof Error ? (error.stack ?? error.message) : String(error))
}

function log(text: string): void {
  process.stderr.write(`haversack: ${text}\n`)
}
