import type { Config } from '../../config/config.ts'
import type { McpEndpoints } from '../../http/context.ts'
import { probeServer } from '../../mcp/auth/probe-server.ts'
import { createEraDispatch } from '../../mcp/fronts/era-dispatch.ts'
import { ForwardingFront } from '../../mcp/fronts/forwarding-front.ts'
import type { HttpFront } from '../../mcp/fronts/http-exchange.ts'
import { SessionTable } from '../../mcp/fronts/legacy/session-table.ts'
import { LegacyHttpFront } from '../../mcp/fronts/legacy-http.ts'
import { createModernFront, type DrainingFront } from '../../mcp/fronts/modern/modern-front.ts'
import type { ModernServerOptions } from '../../mcp/fronts/modern/modern-server.ts'
import { ChildPlaces } from '../../mcp/upstream/child-places.ts'
import { SYSTEM_CLOCK } from '../../mcp/upstream/clock.ts'
import { VERSION } from '../../runtime/version.ts'
import { loadSealingKey } from '../sealing-key.ts'
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
export function createMcpEndpoints(
  config: Config,
  given: Pick<GatewayNeeds, 'deps' | 'env' | 'logger'>,
): ServiceEndpoints {
  const needs: GatewayNeeds = { ...given, places: new ChildPlaces(), isService: true }
  const table = new SessionTable(SYSTEM_CLOCK)
  const fronts = new Map<string, HttpFront>()
  const modernFronts: DrainingFront[] = []
  /** Not read before there is a client: most services have no servers. */
  let sealingKey: Uint8Array | undefined
  let gateways: Gateways = createGateways(config, needs)
  /** Those of earlier configurations, which clients may still use. */
  const retired: Gateways[] = []

  function frontOf(only: string | null, alwaysRetrieves: boolean): HttpFront {
    const forwarding = forwardingOf(gateways.servers, only)
    const key = JSON.stringify([only, alwaysRetrieves, forwarding?.names, forwarding?.url])
    const known = fronts.get(key)
    if (known !== undefined) return known
    const createGateway: ModernServerOptions['createGateway'] = (client, caller) => {
      const { tenant, credential, forwarded = null, project } = caller
      const own = { tenant, credential, forwarded, project }
      return gateways.create(client, { ...own, only, alwaysRetrieves })
    }
    const legacy = new LegacyHttpFront({ table, version: VERSION, createGateway })
    sealingKey ??= loadSealingKey(config.data_dir)
    const onBug = (err: unknown) => needs.logger.error({ err }, 'unexpected error')
    const generation = () => retired.length
    const modern = createModernFront({
      version: VERSION,
      sealingKey,
      createGateway,
      generation,
      onBug,
    })
    modernFronts.push(modern)
    const dispatch = createEraDispatch({ legacy, modern })
    const front = forwarding === null ? dispatch : forwardingFront(dispatch, forwarding)
    fronts.set(key, front)
    return front
  }

  return {
    find(only, caller) {
      const { servers } = gateways
      const isThere = only === null ? Object.keys(servers).length > 0 : Object.hasOwn(servers, only)
      if (!isThere) return null
      // The tool of what the proxies leave out, for keys that may use it.
      return frontOf(only, only === null && caller.scopes.has('retrieve'))
    },
    read(next) {
      const before = gateways
      gateways = createGateways(next, needs)
      before.retire()
      retired.push(before)
    },
    drain() {
      table.drain()
      for (const front of modernFronts) front.drain()
    },
    async close() {
      await table.close()
      await Promise.all([...fronts.values()].map(front => front.close()))
      await Promise.all([gateways, ...retired].map(each => each.close()))
    },
  }
}

/** What an endpoint forwards. */
interface Forwarding {
  readonly names: readonly string[]
  /** The URL of its only server; `null` if it has several. */
  readonly url: string | null
}

function forwardingOf(servers: Gateways['servers'], only: string | null): Forwarding | null {
  const all = only === null ? Object.values(servers) : [servers[only]]
  const names = all.flatMap(server => (server?.auth.kind === 'forward' ? server.auth.headers : []))
  if (names.length === 0) return null
  return { names, url: only === null ? null : (servers[only]?.url ?? null) }
}

function forwardingFront(front: HttpFront, { names, url }: Forwarding): HttpFront {
  const probe = url === null ? null : (headers: object) => probeServer(new URL(url), { ...headers })
  return new ForwardingFront({ front, names, probe, now: () => SYSTEM_CLOCK.now() })
}
