import type { Config } from '../config/config.ts'
import type { McpEndpoints } from '../http/context.ts'
import { createEraDispatch } from '../mcp/fronts/era-dispatch.ts'
import type { HttpFront } from '../mcp/fronts/http-exchange.ts'
import { SessionTable } from '../mcp/fronts/legacy/session-table.ts'
import { LegacyHttpFront } from '../mcp/fronts/legacy-http.ts'
import { SYSTEM_CLOCK } from '../mcp/upstream/clock.ts'
import { VERSION } from '../runtime/version.ts'
import { createGateways, type GatewayNeeds, type Gateways } from './gateways.ts'

/** The endpoints of MCP of a running service. */
export interface ServiceEndpoints extends McpEndpoints {
  /**
   * Puts other servers in force for new clients.
   * @throws Error for a secret that is not there; then the servers before stay
   */
  read(config: Config): void
  /** Ends streams that would keep their connections open. */
  drain(): void
  /** Ends all clients, and what was started for them. */
  close(): Promise<void>
}

/** @throws Error for a secret that is not there */
export function createMcpEndpoints(config: Config, needs: GatewayNeeds): ServiceEndpoints {
  const table = new SessionTable(SYSTEM_CLOCK)
  const fronts = new Map<string, HttpFront>()
  let gateways: Gateways = createGateways(config, needs)

  function frontOf(only: string | null, alwaysRetrieves: boolean): HttpFront {
    const key = `${only ?? ''} ${alwaysRetrieves}`
    const known = fronts.get(key)
    if (known !== undefined) return known
    const legacy = new LegacyHttpFront({
      table,
      version: VERSION,
      createGateway: (client, { tenant }) =>
        gateways.create(client, { tenant, only, alwaysRetrieves }),
    })
    const front = createEraDispatch({ legacy, modern: null })
    fronts.set(key, front)
    return front
  }

  return {
    find(only, caller) {
      const isThere = only === null ? gateways.servers.size > 0 : gateways.servers.has(only)
      if (!isThere) return null
      // The tool of what the proxies leave out, for keys that may use it.
      return frontOf(only, only === null && caller.scopes.has('retrieve'))
    },
    read(next) {
      gateways = createGateways(next, needs)
    },
    drain: () => table.drain(),
    async close() {
      await table.close()
      await Promise.all([...fronts.values()].map(front => front.close()))
    },
  }
}
