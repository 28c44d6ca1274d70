import { readFileSync } from 'node:fs'
import type { Env } from '../config/env.ts'
import type { McpServerConfig } from '../config/mcp.ts'
import type { GatewayServer } from '../mcp/gateway-options.ts'
import { jsonBytes } from '../mcp/json-rpc.ts'
import { connectUpstream } from '../mcp/upstream/connect-upstream.ts'
import type { ServerTarget } from '../mcp/upstream/options.ts'
import type { Verdicts } from '../mcp/upstream/verdicts.ts'
import type { Logger } from '../observability/logger.ts'
import { VERSION } from '../runtime/version.ts'

interface ServerNeeds {
  readonly env: Env
  readonly logger: Logger
  readonly verdicts: Verdicts
}

/**
 * A configured server, as gateways connect to it.
 * @throws Error for a secret that is not there
 */
export function gatewayServer(
  name: string,
  config: McpServerConfig,
  { env, logger, verdicts }: ServerNeeds,
): GatewayServer {
  const { mode, budget_tokens, structured, timeout_ms, trusted, tools } = config
  const target = targetOf(config, env)
  return {
    name,
    settings: { mode, budget_tokens, structured, timeout_ms, trusted, ...tools },
    connect: (client, listener) =>
      connectUpstream({
        name,
        target,
        claims: { capabilities: client.capabilities, clientInfo: client.info ?? OWN_INFO },
        listener,
        verdicts,
        verdictKey: name,
        log: (event, fields) => logger.debug({ ...fields }, `server ${event}`),
      }),
  }
}

/** What servers are told of a client that does not name itself. */
const OWN_INFO = jsonBytes({ name: 'haversack', version: VERSION })

function targetOf(config: McpServerConfig, env: Env): ServerTarget {
  const { url, command, args, cwd = null, auth } = config
  const read = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(values).map(([key, text]) => [key, secretOf(text, env)]))
  if (command !== undefined) {
    return { kind: 'stdio', command, args, env: read(config.env), cwd, processEnvironment: env }
  }
  const headers = auth.kind === 'headers' ? read(auth.headers) : {}
  return { kind: 'http', url: new URL(url as string), headers: () => headers }
}

/** The text itself, or what it names: `env:NAME`, `file:PATH`. */
function secretOf(text: string, env: Env): string {
  if (text.startsWith('file:')) return readFileSync(text.slice('file:'.length), 'utf8').trim()
  if (!text.startsWith('env:')) return text
  const value = env[text.slice('env:'.length)]
  if (value === undefined) throw new Error(`${text}: there is no such variable`)
  return value
}
