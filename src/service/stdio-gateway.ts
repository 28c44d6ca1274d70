import { randomUUID } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import { LOCAL } from '../access/access.ts'
import type { Config } from '../config/config.ts'
import type { Env } from '../config/env.ts'
import { readCompactions } from '../mcp/contexts/compactions.ts'
import { createContexts } from '../mcp/contexts/contexts.ts'
import { createGateway, type Gateway } from '../mcp/gateway.ts'
import type { GatewayClient, GatewayOptions } from '../mcp/gateway-options.ts'
import { createPacker } from '../mcp/pack.ts'
import { serveStdio } from '../mcp/stdio-front.ts'
import type { Logger } from '../observability/logger.ts'
import { VERSION } from '../runtime/version.ts'
import { type EmbeddedService, startEmbedded } from './embedded.ts'
import { configuredServers } from './mcp-servers.ts'

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
const WARNED: ReadonlySet<string> = new Set(['lost', 'unlisted', 'changed', 'withheld'])

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
  const { tenant } = LOCAL
  const onServer: GatewayOptions['onServer'] = (server, event, detail = {}) => {
    const fields = { server, ...detail }
    if (event === 'bug') logger.error(fields, 'unexpected error')
    else if (WARNED.has(event)) logger.warn(fields, `server ${event}`)
    else logger.info(fields, `server ${event}`)
  }
  const servers = configuredServers(config, { env, logger, tenant })
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
  const shared = { servers, tenant, pack, originals, onServer, alwaysRetrieves: isOneContext }
  return client =>
    createGateway({ ...shared, client, ...(contexts === undefined ? {} : { contexts }) })
}
