import { hash } from 'node:crypto'
import type { Config } from '../config/config.ts'
import type { Env } from '../config/env.ts'
import type { McpServerConfig } from '../config/mcp.ts'
import type { Vault } from '../mcp/auth/vault.ts'
import type { GatewayServer } from '../mcp/gateway-options.ts'
import { jsonBytes } from '../mcp/json-rpc.ts'
import { openPins, type Pins } from '../mcp/memory/pins.ts'
import { openServerMemory, type ServerMemory } from '../mcp/memory/server-memory.ts'
import { secretReader } from '../mcp/secret-text.ts'
import { connectUpstream } from '../mcp/upstream/connect-upstream.ts'
import type { ServerTarget } from '../mcp/upstream/options.ts'
import type { Verdicts } from '../mcp/upstream/verdicts.ts'
import type { Logger } from '../observability/logger.ts'
import { VERSION } from '../runtime/version.ts'
import { oauthHeaders, openVault } from './mcp-authorization.ts'

export interface ServerNeeds {
  readonly env: Env
  readonly logger: Logger
  readonly tenant: string
}

interface ConnectNeeds extends ServerNeeds {
  readonly dataDir: string
  readonly verdicts: Verdicts
  /** `null` if no server needs one. */
  readonly vault: Vault | null
}

/**
 * The configured servers of one tenant. Their connections share what is known of each server, here
 * and in the data folder.
 * @throws Error for a secret that is not there
 */
export function configuredServers(
  config: Pick<Config, 'mcp' | 'data_dir' | 'store'>,
  needs: ServerNeeds,
): readonly GatewayServer[] {
  const { mcp, data_dir } = config
  const configured = Object.entries(mcp.servers)
  const needsVault = configured.some(([, { auth }]) => auth.kind === 'oauth')
  const vault = needsVault ? openVault(config) : null
  const verdicts: Verdicts = new Map()
  return configured.map(([name, server]) =>
    gatewayServer(name, server, { ...needs, dataDir: data_dir, verdicts, vault }),
  )
}

/** The definitions that the user has accepted of a server. */
export function pinsOf(
  name: string,
  config: McpServerConfig,
  { dataDir, tenant }: { readonly dataDir: string; readonly tenant: string },
): Pins {
  return openPins(dataDir, serverId([tenant, name, placeOf(config)]))
}

function gatewayServer(name: string, config: McpServerConfig, needs: ConnectNeeds): GatewayServer {
  const { logger, verdicts, tenant } = needs
  const { mode, budget_tokens, resources, structured, timeout_ms, trusted, tools } = config
  const per_tool = Object.entries(config.per_tool).map(([pattern, terms]) => ({ pattern, terms }))
  const target = targetOf(name, config, needs)
  const id = serverId([tenant, name, placeOf(config), credentialOf(config, needs.env)])
  // Forwarded credentials differ by client, and so may lists.
  const memory = config.auth.kind === 'forward' ? undefined : memoryOf(name, config, id, needs)
  if (memory?.verdict !== undefined) verdicts.set(id, memory.verdict)
  return {
    name,
    settings: {
      ...{ mode, budget_tokens, per_tool, resources, structured, timeout_ms, trusted },
      ...tools,
    },
    memory,
    connect: (client, listener) =>
      connectUpstream({
        name,
        target,
        claims: { capabilities: client.capabilities, clientInfo: client.info ?? OWN_INFO },
        listener: {
          onNotification: listener.onNotification.bind(listener),
          onRequest: listener.onRequest.bind(listener),
          onLost: listener.onLost.bind(listener),
          onConnected(facts) {
            const verdict = verdicts.get(id)
            if (verdict !== undefined) memory?.keepVerdict(verdict)
            listener.onConnected(facts)
          },
        },
        verdicts,
        verdictKey: id,
        log: (event, fields) => logger.debug({ ...fields }, `server ${event}`),
      }),
  }
}

function memoryOf(
  name: string,
  config: McpServerConfig,
  id: string,
  needs: ConnectNeeds,
): ServerMemory {
  return openServerMemory({
    dataDir: needs.dataDir,
    id,
    ...(config.pin ? { pins: pinsOf(name, config, needs) } : {}),
    onFailure: err => needs.logger.warn({ err, server: name }, 'its lists could not be kept'),
  })
}

/** What servers are told of a client that does not name itself. */
const OWN_INFO = jsonBytes({ name: 'haversack', version: VERSION })

function targetOf(name: string, config: McpServerConfig, needs: ConnectNeeds): ServerTarget {
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

/** Where a server is: another place is another server, whatever its name. */
function placeOf({ url, command, args, cwd }: McpServerConfig): object {
  return { url, command, args, cwd }
}

/** What it is called with: servers may list other tools to others. */
function credentialOf({ env: given, auth }: McpServerConfig, env: Env): object {
  const headers = auth.kind === 'headers' ? secrets(auth.headers, env)() : {}
  return { auth: auth.kind, headers, env: secrets(given, env)() }
}

function serverId(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex').slice(0, 32)
}
