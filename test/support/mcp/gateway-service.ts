import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configSchema } from '../../../src/config/config.ts'
import { createLogger } from '../../../src/observability/logger.ts'
import { type Service, startService } from '../../../src/service/service.ts'

/** A service in this process, with these servers behind `/mcp`. */
export async function startGatewayService(
  servers: object,
  settings: object = {},
): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-gateway-service-'))
  const service = await startService(gatewayConfig(servers, { data_dir: folder, ...settings }), {
    logger: createLogger('silent'),
  })
  return {
    ...service,
    async close() {
      await service.close()
      rmSync(folder, { recursive: true })
    },
  }
}

function gatewayConfig(servers: object, settings: object = {}) {
  return configSchema.parse({
    port: 0,
    workers: { count: 1 },
    limits: { drain_grace_ms: 0 },
    mcp: { servers },
    ...settings,
  })
}
