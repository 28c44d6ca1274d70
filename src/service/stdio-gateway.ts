import { randomUUID } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import { LOCAL } from '../access/access.ts'
import type { Config } from '../config/config.ts'
import type { Env } from '../config/env.ts'
import type { McpServerConfig } from '../config/mcp.ts'
import type { Vault } from '../mcp/auth/vault.ts'
import { readCompactions } from '../mcp/contexts/compactions.ts'
import { createContexts } from '../mcp/contexts/contexts.ts'
import { createGateway, type Gateway } from '../mcp/gateway.ts'
import type { GatewayClient, GatewayOptions, GatewayServer } from '../mcp/gateway-options.ts'
import { jsonBytes } from '../mcp/json-rpc.ts'
import { createPacker } from '../mcp/pack.ts'
import { secretReader } from '../mcp/secret-text.ts'
import { serveStdio } from '../mcp/stdio-front.ts'
import { connectUpstream } from '../mcp/upstream/connect-upstream.ts'
import type { ServerTarget } from '../mcp/upstream/options.ts'
import type { Verdicts } from '../mcp/upstream/verdicts.ts'
import type { Logger } from '../observability/logger.ts'
import { VERSION } from '../runtime/version.ts'
import { type EmbeddedService, startEmbedded } from './embedded.ts'
import { oauthHeaders, openVault } from './mcp-authorization.ts'

export interface GatewayRun {
  readonly env: Env
  readonly logger: Logger
  readonly input: Readable
  readonly output: Writable
  /** Ends it from outside. */
  readonly stop: AbortSignal
  /** Whether the client has one context, in which it has read all results that it was sent. */
  readonly isOneContext?: boolean
}

/** What packing may take of a call, in milliseconds; after that the result goes on unchanged. */
const PACK_MS = 5_000

/** Words of events that are worth a warning. */
const WARNED: ReadonlySet<string> = new Set(['lost', 'unlisted'])

/**
 * Serves the configured MCP servers to one client on a pair of streams, until its input ends.
 * @throws what keeps the service from starting, and Error for a secret that is not there
 */
export async function runGateway(config: Config, run: GatewayRun): Promise<void> {
  const { env, logger, input, output, stop, isOneContext = false } = run
  // A local client needs no key.
  const { keys_file: _, ...open } = config
  const { limits } = config
  const service = await startEmbedded({ ...open, limits: { ...limits, drain_grace_ms: 0 } }, logger)
  try {
    const createGateway = gatewayFactory(config, service.deps, { env, logger, isOneContext })
    const context = isOneContext ? { context: `connection ${randomUUID()}` } : {}
    await serveStdio(input, output, { stop, version: VERSION, createGateway, ...context })
  } finally {
    await service.close()
  }
}

/**
 * Makes the gateway of each client, with connections of its own to the configured servers.
 * @throws Error for a secret that is not there
 */
export function gatewayFactory(
  config: Config,
  { pool, originals, metrics, sessions, telemetry }: EmbeddedService['deps'],
  { env, logger, isOneContext = false }: Pick<GatewayRun, 'env' | 'logger' | 'isOneContext'>,
): (client: GatewayClient) => Gateway {
  const verdicts: Verdicts = new Map()
  const { tenant } = LOCAL
  const configured = Object.entries(config.mcp.servers)
  const needsVault = configured.some(([, { auth }]) => auth.kind === 'oauth')
  const vault = needsVault ? openVault(config) : null
  const servers = configured.map(([name, server]) =>
    gatewayServer(name, server, { env, logger, verdicts, vault, tenant }),
  )
  const pack = createPacker({
    pool,
    originals,
    sessions,
    tenant,
    timeoutMs: PACK_MS,
    onReport(report) {
      metrics.report(report)
      if (report.response !== undefined) telemetry?.record(tenant, report.response)
    },
    onBug: err => logger.error({ err }, 'unexpected error'),
  })
  const contexts =
    sessions === undefined
      ? undefined
      : createContexts({
          index: sessions.index,
          tenant,
          credential: null,
          compactions: readCompactions(config.data_dir),
          now: Date.now,
        })
  const onServer: GatewayOptions['onServer'] = (server, event, detail = {}) => {
    const fields = { server, ...detail }
    if (event === 'bug') logger.error(fields, 'unexpected error')
    else if (WARNED.has(event)) logger.warn(fields, `server ${event}`)
    else logger.info(fields, `server ${event}`)
  }
  const shared = { servers, tenant, pack, originals, onServer, alwaysRetrieves: isOneContext }
  return client =>
    createGateway({ ...shared, client, ...(contexts === undefined ? {} : { contexts }) })
}

interface ServerNeeds {
  readonly env: Env
  readonly logger: Logger
  readonly verdicts: Verdicts
  /** `null` if no server needs one. */
  readonly vault: Vault | null
  readonly tenant: string
}

function gatewayServer(name: string, config: McpServerConfig, needs: ServerNeeds): GatewayServer {
  const { logger, verdicts } = needs
  const { mode, budget_tokens, resources, structured, timeout_ms, trusted, tools } = config
  const per_tool = Object.entries(config.per_tool).map(([pattern, terms]) => ({ pattern, terms }))
  const target = targetOf(name, config, needs)
  return {
    name,
    settings: {
      ...{ mode, budget_tokens, per_tool, resources, structured, timeout_ms, trusted },
      ...tools,
    },
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

function targetOf(name: string, config: McpServerConfig, needs: ServerNeeds): ServerTarget {
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
