import { hash } from 'node:crypto'
import type { Env } from '../../config/env.ts'
import type { McpServerConfig } from '../../config/mcp.ts'
import { secretReader } from '../../mcp/auth/secret-text.ts'
import { openPins, type Pins } from '../../mcp/catalogue/memory/pins.ts'
import { openServerMemory, type ServerMemory } from '../../mcp/catalogue/memory/server-memory.ts'
import type { Logger } from '../../observability/logger.ts'

/** A server as one tenant uses it. */
interface UsedServer {
  readonly tenant: string
  readonly name: string
  readonly config: McpServerConfig
}

interface MemoryNeeds {
  readonly dataDir: string
  readonly env: Env
  readonly logger: Pick<Logger, 'warn'>
}

/** The definitions that the user has accepted of a server. */
export function pinsOf({ tenant, name, config }: UsedServer, dataDir: string): Pins {
  return openPins(dataDir, serverId([tenant, name, placeOf(config)]))
}

/** Returns `undefined` for a server whose lists may differ by client. */
export function openMemory(
  server: UsedServer,
  { dataDir, env, logger }: MemoryNeeds,
): ServerMemory | undefined {
  const { tenant, name, config } = server
  if (config.auth.kind === 'forward') return undefined
  return openServerMemory({
    dataDir,
    id: serverId([tenant, name, placeOf(config), credentialOf(config, env)]),
    ...(config.pin ? { pins: pinsOf(server, dataDir) } : {}),
    onFailure: err => logger.warn({ err, server: name }, 'its lists could not be kept'),
  })
}

/** Where a server is: another place is another server, whatever its name. */
function placeOf({ url, command, args, cwd }: McpServerConfig): object {
  return { url, command, args, cwd }
}

/** What it is called with: servers may list other tools to others. */
function credentialOf({ env: given, auth }: McpServerConfig, env: Env): object {
  const read = (values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(([key, text]) => [key, secretReader(text, env)()])
  return {
    auth: auth.kind,
    env: read(given),
    headers: auth.kind === 'headers' ? read(auth.headers) : [],
  }
}

function serverId(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex').slice(0, 32)
}
