import type { Config } from '../config/config.ts'
import type { Env } from '../config/env.ts'
import type { AppDeps } from '../http/context.ts'
import { createGateway, type Gateway } from '../mcp/gateway.ts'
import type { GatewayClient, GatewayOptions } from '../mcp/gateway-options.ts'
import { createPacker } from '../mcp/pack.ts'
import type { ChildPlaces } from '../mcp/upstream/child-places.ts'
import type { Logger } from '../observability/logger.ts'
import { configuredServer } from './mcp-servers.ts'

/** What packing may take of a call, in milliseconds; after that the result goes on unchanged. */
const PACK_MS = 5_000

/** Words of events that are worth a warning. */
const WARNED: ReadonlySet<string> = new Set(['lost', 'unlisted'])

/** What the gateways of all clients share. */
export interface GatewayNeeds {
  readonly deps: Pick<AppDeps, 'pool' | 'originals' | 'metrics' | 'telemetry'>
  readonly env: Env
  readonly logger: Logger
  /** Counts the processes of all servers. */
  readonly places: ChildPlaces
  /** Whether there are many clients. */
  readonly isService: boolean
}

/** Whose gateway it is, and what it offers. */
export interface GatewayTerms {
  readonly tenant: string
  /** The only server; `null`: all. */
  readonly only: string | null
  /** Whether `haversack_retrieve` is offered even if no result may leave anything out. */
  readonly alwaysRetrieves: boolean
}

/** Makes the gateways of clients, by one configuration. */
export interface Gateways {
  /** Names of the configured servers. */
  readonly servers: ReadonlySet<string>
  create(client: GatewayClient, terms: GatewayTerms): Gateway
  /** No more clients come: a connection ends with its last client. */
  retire(): void
  close(): Promise<void>
}

/** @throws Error for a secret that is not there */
export function createGateways({ mcp }: Pick<Config, 'mcp'>, needs: GatewayNeeds): Gateways {
  const { deps, logger } = needs
  const { pool, originals, metrics, telemetry } = deps
  const all = Object.entries(mcp.servers).map(([name, server]) =>
    configuredServer(name, server, needs),
  )
  const onServer: GatewayOptions['onServer'] = (server, event, detail = {}) => {
    const fields = { server, ...detail }
    if (event === 'bug') logger.error(fields, 'unexpected error')
    else if (WARNED.has(event)) logger.warn(fields, `server ${event}`)
    else logger.info(fields, `server ${event}`)
  }
  return {
    servers: new Set(all.map(({ name }) => name)),
    create(client, { tenant, only, alwaysRetrieves }) {
      const servers = all
        .filter(({ name }) => only === null || name === only)
        .map(server => server.of(tenant))
      const pack = createPacker({
        pool,
        originals,
        tenant,
        timeoutMs: PACK_MS,
        onReport(report) {
          metrics.report(report)
          if (report.response !== undefined) telemetry?.record(tenant, report.response)
        },
        onBug: err => logger.error({ err }, 'unexpected error'),
      })
      return createGateway({ servers, tenant, client, pack, originals, alwaysRetrieves, onServer })
    },
    retire() {
      for (const server of all) server.retire()
    },
    async close() {
      await Promise.all(all.map(server => server.close()))
    },
  }
}
