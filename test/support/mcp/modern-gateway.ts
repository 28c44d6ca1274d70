import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configSchema } from '../../../src/config/config.ts'
import { createModernFront } from '../../../src/mcp/fronts/modern/modern-front.ts'
import type { ModernServerOptions } from '../../../src/mcp/fronts/modern/modern-server.ts'
import { createLogger } from '../../../src/observability/logger.ts'
import { gatewayFactory } from '../../../src/service/mcp/stdio-gateway.ts'
import { startSmallEmbedded } from '../small-service.ts'
import { type FrontServer, serveFront } from './front-server.ts'

/** Gateways in this process, with one worker for all. */
export interface GatewayHost {
  /** Options of a modern front before these servers, as in `[mcp.servers]`. */
  options(servers: object): ModernServerOptions
  /** A modern front before these servers, over HTTP. */
  serve(servers: object, options?: Partial<ModernServerOptions>): Promise<FrontServer>
  close(): Promise<void>
}

export async function startGatewayHost(): Promise<GatewayHost> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-modern-'))
  const base = { data_dir: folder, workers: { count: 1 }, limits: { drain_grace_ms: 0 } }
  const logger = createLogger('silent')
  const service = await startSmallEmbedded(configSchema.parse(base))
  const options = (servers: object): ModernServerOptions => {
    const config = configSchema.parse({ ...base, mcp: { servers } })
    const gatewayFor = gatewayFactory(config, service.deps, { env: process.env, logger })
    return {
      version: '0',
      sealingKey: randomBytes(32),
      createGateway: client => gatewayFor(client),
      onBug(error) {
        throw error
      },
    }
  }
  return {
    options,
    serve: (servers, changed) => serveFront(createModernFront({ ...options(servers), ...changed })),
    async close() {
      await service.close()
      rmSync(folder, { recursive: true })
    },
  }
}
