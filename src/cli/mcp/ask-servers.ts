import { LOCAL } from '../../access/access.ts'
import type { Config } from '../../config/config.ts'
import type { Env } from '../../config/env.ts'
import { UsageError } from '../../console/command.ts'
import { type CheckedServer, checkServer } from '../../mcp/check-server.ts'
import type { GatewayServer } from '../../mcp/gateway-options.ts'
import { ChildPlaces } from '../../mcp/upstream/child-places.ts'
import { createLogger } from '../../observability/logger.ts'
import { openVault } from '../../service/mcp/authorization.ts'
import { configuredServer } from '../../service/mcp/servers.ts'

const UNMEASURED = { connected() {}, disconnected() {}, listChanged() {} }

/** What one server may take, in milliseconds. */
const LIMIT_MS = 30_000

interface AskedServer {
  readonly server: GatewayServer
  readonly found: CheckedServer
}

/**
 * Connects to all configured servers at once, reads their lists, and leaves.
 * @throws UsageError if there is none
 */
export async function askServers(config: Config, env: Env): Promise<readonly AskedServer[]> {
  if (Object.keys(config.mcp.servers).length === 0) {
    throw new UsageError('the configuration has no [mcp.servers]')
  }
  const needs = {
    env,
    logger: createLogger('silent'),
    metrics: { mcp: UNMEASURED },
    vault: openVault(config),
    places: new ChildPlaces(),
    isService: false,
    dataDir: config.data_dir,
  }
  // What waits for a server to end keeps no process running.
  const running = setInterval(() => {}, LIMIT_MS)
  try {
    return await Promise.all(
      Object.entries(config.mcp.servers).map(async ([name, terms]) => {
        const configured = configuredServer(name, terms, needs)
        const server = configured.of(LOCAL.tenant, null)
        const found = await checkServer(server, LIMIT_MS)
        await configured.close()
        return { server, found }
      }),
    )
  } finally {
    clearInterval(running)
  }
}
