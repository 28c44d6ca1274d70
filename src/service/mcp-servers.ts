import { readFileSync } from 'node:fs'
import type { Env } from '../config/env.ts'
import type { McpServerConfig } from '../config/mcp.ts'
import type { GatewayServer } from '../mcp/gateway-options.ts'
import { jsonBytes } from '../mcp/json-rpc.ts'
import type { ChildPlaces } from '../mcp/upstream/child-places.ts'
import { SYSTEM_CLOCK } from '../mcp/upstream/clock.ts'
import { connectUpstream } from '../mcp/upstream/connect-upstream.ts'
import type { ServerTarget } from '../mcp/upstream/options.ts'
import { SharedConnections } from '../mcp/upstream/shared-connections.ts'
import { currentVerdict, type Verdicts } from '../mcp/upstream/verdicts.ts'
import type { Logger } from '../observability/logger.ts'
import { VERSION } from '../runtime/version.ts'

export interface ServerNeeds {
  readonly env: Env
  readonly logger: Logger
  /** Counts the processes of all servers. */
  readonly places: ChildPlaces
  /** Whether there are many clients. */
  readonly isService: boolean
}

/** A configured server, and the connections to it. */
export interface ConfiguredServer {
  readonly name: string
  /** As gateways of a tenant connect to it. */
  of(tenant: string): GatewayServer
  /** No more clients come. */
  retire(): void
  close(): Promise<void>
}

/** @throws Error for a secret that is not there */
export function configuredServer(
  name: string,
  config: McpServerConfig,
  { env, logger, places, isService }: ServerNeeds,
): ConfiguredServer {
  const { mode, budget_tokens, structured, timeout_ms, trusted, tools, sharing } = config
  const settings = { mode, budget_tokens, structured, timeout_ms, trusted, ...tools }
  const target = targetOf(config, env)
  const verdicts: Verdicts = new Map()
  const clock = SYSTEM_CLOCK
  const byTenant = new Map<string, SharedConnections>()

  function connectionsOf(tenant: string): SharedConnections {
    const known = byTenant.get(tenant)
    if (known !== undefined) return known
    const connections = new SharedConnections({
      isStateless: sharing === 'shared',
      era: () => currentVerdict(verdicts, name, clock)?.era,
      places: target.kind === 'stdio' ? { all: places, owner: `${tenant} ${name}` } : null,
      isService,
      clock,
      open: (claims, listener) =>
        connectUpstream({
          ...{ name, target, claims, listener, verdicts, clock },
          verdictKey: name,
          log: (event, fields) => logger.debug({ ...fields }, `server ${event}`),
        }),
    })
    byTenant.set(tenant, connections)
    return connections
  }

  return {
    name,
    of: tenant => ({
      name,
      settings,
      connect: ({ capabilities, info }, listener) =>
        connectionsOf(tenant).connect({ capabilities, clientInfo: info ?? OWN_INFO }, listener),
    }),
    retire() {
      for (const connections of byTenant.values()) connections.retire()
    },
    async close() {
      await Promise.all([...byTenant.values()].map(connections => connections.close()))
    },
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
