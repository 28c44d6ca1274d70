import type { Env } from '../config/env.ts'
import type { McpServerConfig } from '../config/mcp.ts'
import type { Vault } from '../mcp/auth/vault.ts'
import type { GatewayServer, ServerSettings } from '../mcp/gateway-options.ts'
import { jsonBytes } from '../mcp/json-rpc.ts'
import { secretReader } from '../mcp/secret-text.ts'
import type { ChildPlaces } from '../mcp/upstream/child-places.ts'
import { SYSTEM_CLOCK } from '../mcp/upstream/clock.ts'
import { connectUpstream } from '../mcp/upstream/connect-upstream.ts'
import { observeConnection } from '../mcp/upstream/observe-connection.ts'
import type { ServerTarget } from '../mcp/upstream/options.ts'
import { SharedConnections } from '../mcp/upstream/shared-connections.ts'
import { currentVerdict, type Verdicts } from '../mcp/upstream/verdicts.ts'
import type { Logger } from '../observability/logger.ts'
import type { Metrics } from '../observability/metrics.ts'
import { VERSION } from '../runtime/version.ts'
import { oauthHeaders } from './mcp-authorization.ts'

export interface ServerNeeds {
  readonly env: Env
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'mcp'>
  /** `null` if no server needs one. */
  readonly vault: Vault | null
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
  needs: ServerNeeds,
): ConfiguredServer {
  const { logger, metrics, places, isService } = needs
  const settings = settingsOf(config)
  const { sharing } = config
  // Tokens belong to a tenant, everything else is the same for all.
  const common =
    config.auth.kind === 'oauth' ? null : targetOf(name, config, { ...needs, tenant: '' })
  const verdicts: Verdicts = new Map()
  const clock = SYSTEM_CLOCK
  const byTenant = new Map<string, SharedConnections>()

  function connectionsOf(tenant: string): SharedConnections {
    const known = byTenant.get(tenant)
    if (known !== undefined) return known
    const target = common ?? targetOf(name, config, { ...needs, tenant })
    const connections = new SharedConnections({
      isStateless: sharing === 'shared',
      era: () => currentVerdict(verdicts, `${tenant} ${name}`, clock)?.era,
      places: target.kind === 'stdio' ? { all: places, owner: `${tenant} ${name}` } : null,
      isService,
      clock,
      open: (claims, listener) =>
        observeConnection(
          observed =>
            connectUpstream({
              ...{ name, target, claims, listener: observed, verdicts, clock },
              verdictKey: `${tenant} ${name}`,
              log: (event, fields) => logger.debug({ ...fields }, `server ${event}`),
            }),
          listener,
          {
            onConnected: isAgain => metrics.mcp.connected(name, isAgain),
            onDisconnected: () => metrics.mcp.disconnected(name),
            onListChanged: () => metrics.mcp.listChanged(name),
          },
        ),
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

function settingsOf(config: McpServerConfig): ServerSettings {
  const { mode, budget_tokens, resources, structured, timeout_ms, trusted, tools } = config
  const per_tool = Object.entries(config.per_tool).map(([pattern, terms]) => ({ pattern, terms }))
  return {
    ...{ mode, budget_tokens, per_tool, resources, structured, timeout_ms, trusted },
    ...tools,
  }
}

/** What servers are told of a client that does not name itself. */
const OWN_INFO = jsonBytes({ name: 'haversack', version: VERSION })

function targetOf(
  name: string,
  config: McpServerConfig,
  needs: Pick<ServerNeeds, 'env' | 'logger' | 'vault'> & { readonly tenant: string },
): ServerTarget {
  const { command, args, cwd = null, auth } = config
  const { env, vault } = needs
  if (command !== undefined) {
    const own = secrets(config.env, env)()
    return { kind: 'stdio', command, args, env: own, cwd, processEnvironment: env }
  }
  const url = new URL(config.url as string)
  if (auth.kind === 'oauth' && vault !== null) {
    return { kind: 'http', url, ...oauthHeaders(name, url, auth, { ...needs, vault }) }
  }
  const headers = secrets(auth.kind === 'headers' ? auth.headers : {}, env)
  return { kind: 'http', url, headers }
}

/** @throws Error for a secret that is not there */
function secrets(
  values: Readonly<Record<string, string>>,
  env: Env,
): () => Readonly<Record<string, string>> {
  const readers = Object.entries(values).map(
    ([key, text]) => [key, secretReader(text, env)] as const,
  )
  return () => Object.fromEntries(readers.map(([key, read]) => [key, read()]))
}
