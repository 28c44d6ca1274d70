import type { Env } from '../../config/env.ts'
import type { McpServerConfig } from '../../config/mcp.ts'
import { secretReader } from '../../mcp/auth/secret-text.ts'
import type { Vault } from '../../mcp/auth/vault.ts'
import type { ServerMemory } from '../../mcp/catalogue/memory/server-memory.ts'
import { type ForwardedHeaders, pickForwarded } from '../../mcp/client/forwarded-headers.ts'
import type { GatewayServer, ServerSettings } from '../../mcp/gateway-options.ts'
import { jsonBytes } from '../../mcp/json-rpc.ts'
import type { ChildPlaces } from '../../mcp/upstream/child-places.ts'
import { SYSTEM_CLOCK } from '../../mcp/upstream/clock.ts'
import { connectUpstream } from '../../mcp/upstream/connect-upstream.ts'
import { observeConnection } from '../../mcp/upstream/observe-connection.ts'
import type { ServerTarget } from '../../mcp/upstream/options.ts'
import { SharedConnections } from '../../mcp/upstream/shared-connections.ts'
import { currentVerdict, type Verdicts } from '../../mcp/upstream/verdicts.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { VERSION } from '../../runtime/version.ts'
import { oauthHeaders } from './authorization.ts'
import { openMemory } from './memory.ts'

export interface ServerNeeds {
  readonly env: Env
  readonly logger: Logger
  readonly metrics: {
    readonly mcp: Pick<Metrics['mcp'], 'connected' | 'disconnected' | 'listChanged'>
  }
  /** `null` if no server needs one. */
  readonly vault: Vault | null
  /** Counts the processes of all servers. */
  readonly places: ChildPlaces
  /** Whether there are many clients. */
  readonly isService: boolean
  readonly dataDir: string
}

/** A configured server, and the connections to it. */
export interface ConfiguredServer {
  readonly name: string
  /**
   * As gateways of a tenant connect to it.
   * @param forwarded headers of the client's request, for servers that get some
   */
  of(tenant: string, forwarded: ForwardedHeaders | null): GatewayServer
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
  const { kind } = config.auth
  if (kind === 'forward' && !isService) {
    throw new Error(`mcp.servers.${name}: auth forward is for clients over HTTP`)
  }
  // Tokens belong to a tenant, forwarded headers to a client; all else is the same for all.
  const isOwn = kind === 'oauth' || kind === 'forward'
  const common = isOwn ? null : targetOf(name, config, { ...needs, tenant: '', forwarded: null })
  const verdicts: Verdicts = new Map()
  const clock = SYSTEM_CLOCK
  const byOwner = new Map<string, SharedConnections>()
  const memories = new Map<string, ServerMemory | undefined>()

  function memoryOf(tenant: string): ServerMemory | undefined {
    if (memories.has(tenant)) return memories.get(tenant)
    const memory = openMemory({ tenant, name, config }, needs)
    if (memory?.verdict !== undefined) verdicts.set(`${tenant} ${name}`, memory.verdict)
    memories.set(tenant, memory)
    return memory
  }

  function connectionsOf(tenant: string, forwarded: ForwardedHeaders | null): SharedConnections {
    const owner = kind === 'forward' ? `${tenant} ${forwarded?.identity}` : tenant
    const known = byOwner.get(owner)
    if (known !== undefined) return known
    const target = common ?? targetOf(name, config, { ...needs, tenant, forwarded })
    forgetOldest(byOwner)
    const connections = new SharedConnections({
      isStateless: sharing === 'shared',
      era: () => currentVerdict(verdicts, `${owner} ${name}`, clock)?.era,
      places: target.kind === 'stdio' ? { all: places, owner: `${tenant} ${name}` } : null,
      isService,
      clock,
      open: (claims, listener) =>
        observeConnection(
          observed =>
            connectUpstream({
              name,
              target,
              claims,
              listener: observed,
              verdicts,
              clock,
              verdictKey: `${owner} ${name}`,
              log: (event, fields) => logger.debug({ ...fields }, `server ${event}`),
            }),
          listener,
          {
            onConnected(isAgain) {
              metrics.mcp.connected(name, isAgain)
              const verdict = verdicts.get(`${owner} ${name}`)
              if (verdict !== undefined) memoryOf(tenant)?.keepVerdict(verdict)
            },
            onDisconnected: () => metrics.mcp.disconnected(name),
            onListChanged: () => metrics.mcp.listChanged(name),
          },
        ),
    })
    byOwner.set(owner, connections)
    return connections
  }

  return {
    name,
    of: (tenant, forwarded) => ({
      name,
      settings,
      memory: memoryOf(tenant),
      connect: ({ capabilities, info }, listener) =>
        connectionsOf(tenant, forwarded).connect(
          { capabilities, clientInfo: info ?? OWN_INFO },
          listener,
        ),
    }),
    retire() {
      for (const connections of byOwner.values()) connections.retire()
    },
    async close() {
      await Promise.all([...byOwner.values()].map(connections => connections.close()))
      for (const memory of memories.values()) memory?.flush()
    },
  }
}

/** Owners of connections to one server: credentials that are forwarded change. */
const MOST_OWNERS = 10_000

/** Its connections end with their clients. */
function forgetOldest(byOwner: Map<string, SharedConnections>): void {
  const [oldest] = byOwner
  if (byOwner.size < MOST_OWNERS || oldest === undefined) return
  oldest[1].retire()
  byOwner.delete(oldest[0])
}

function settingsOf(config: McpServerConfig): ServerSettings {
  const { mode, budget_tokens, resources, structured, timeout_ms, trusted, tools } = config
  return {
    mode,
    budget_tokens,
    resources,
    structured,
    timeout_ms,
    trusted,
    ...tools,
  }
}

/** What servers are told of a client that does not name itself. */
const OWN_INFO = jsonBytes({ name: 'haversack', version: VERSION })

interface TargetNeeds {
  readonly env: Env
  readonly logger: Logger
  /** `null` if no server needs one. */
  readonly vault: Vault | null
  readonly tenant: string
  /** Headers of the client that connects; `null` if it has none, as over stdio. */
  readonly forwarded: ForwardedHeaders | null
}

/**
 * Where a configured server is, and how we authorize ourselves there.
 * @throws Error for a secret that is not there
 */
function targetOf(name: string, config: McpServerConfig, needs: TargetNeeds): ServerTarget {
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
  if (auth.kind === 'forward') {
    if (needs.forwarded === null) {
      throw new Error(`mcp.servers.${name}: auth forward is for clients over HTTP`)
    }
    const picked = pickForwarded(auth.headers, needs.forwarded)
    return { kind: 'http', url, headers: () => picked }
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
