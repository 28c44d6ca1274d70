import { randomUUID } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import { LOCAL } from '../../access/access.ts'
import type { Config } from '../../config/config.ts'
import type { Env } from '../../config/env.ts'
import { layersInProject } from '../../config/layers/project-file.ts'
import { repositoryName } from '../../config/layers/repository.ts'
import { serveStdio } from '../../mcp/fronts/stdio-front.ts'
import type { Gateway } from '../../mcp/gateway.ts'
import type { GatewayClient } from '../../mcp/gateway-options.ts'
import { ChildPlaces } from '../../mcp/upstream/child-places.ts'
import type { Logger } from '../../observability/logger.ts'
import { VERSION } from '../../runtime/version.ts'
import { openConfiguredBook } from '../book/book.ts'
import { type EmbeddedService, startEmbedded } from '../embedded/embedded.ts'
import { loadSealingKey } from '../sealing-key.ts'
import { createGateways } from './gateways.ts'

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

/**
 * Serves the configured MCP servers to one client on a pair of streams, until its input ends.
 * @throws what keeps the service from starting, and Error for a secret that is not there
 */
export async function runGateway(config: Config, run: GatewayRun): Promise<void> {
  const { env, logger, input, output, stop, isOneContext = false } = run
  // A local client needs no key, and is the only one of its gateway.
  const { keys_file: _, ...open } = config
  const limits = { ...config.limits, drain_grace_ms: 0 }
  // Each client starts a gateway, and logs are for `serve` to analyze.
  const tune = { ...config.tune, auto: 'off' as const }
  const service = await startEmbedded(
    { ...open, mcp: { ...config.mcp, servers: {}, composed: {} }, limits, tune },
    logger,
    {
      builders: {
        layersPlaceOf: place => layersInProject(place, process.cwd()),
        openConfiguredBook: (own, terms, reports) =>
          openConfiguredBook(
            own,
            { ...terms, origin: { project: repositoryName(process.cwd()) } },
            reports,
          ),
      },
    },
  )
  try {
    const createGateway = gatewayFactory(config, service.deps, { env, logger, isOneContext })
    const context = isOneContext ? { context: `connection ${randomUUID()}` } : {}
    await serveStdio(input, output, {
      stop,
      version: VERSION,
      createGateway,
      ...context,
      sealingKey: loadSealingKey(config.data_dir),
      onBug: err => logger.error({ err }, 'unexpected error'),
    })
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
  deps: EmbeddedService['deps'],
  { env, logger, isOneContext = false }: Pick<GatewayRun, 'env' | 'logger' | 'isOneContext'>,
): (client: GatewayClient) => Gateway {
  const gateways = createGateways(config, {
    deps,
    env,
    logger,
    places: new ChildPlaces(),
    isService: false,
  })
  const { tenant } = LOCAL
  const own = { tenant, credential: null, forwarded: null }
  const terms = { ...own, only: null, alwaysRetrieves: isOneContext }
  return client => gateways.create(client, terms)
}
