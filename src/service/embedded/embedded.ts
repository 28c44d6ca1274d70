import type { AddressInfo } from 'node:net'
import type { Config } from '../../config/config.ts'
import type { AppDeps } from '../../http/context.ts'
import type { Logger } from '../../observability/logger.ts'
import { BUILDERS } from '../builders.ts'
import { type ServiceSeams, startService } from '../service.ts'
import type { EmbeddedDeps } from './embedded-deps.ts'

/** The service without its HTTP server, for a command that talks to its client in another way. */
export interface EmbeddedService {
  readonly deps: EmbeddedDeps
  close(): Promise<void>
}

/** @throws what keeps a service from starting */
export async function startEmbedded(
  config: Config,
  logger: Logger,
  seams: Pick<ServiceSeams, 'builders' | 'vocabularies'> = {},
): Promise<EmbeddedService> {
  let deps: AppDeps | undefined
  const service = await startService(config, {
    ...seams,
    logger,
    builders: {
      ...seams.builders,
      createApp(given, routes) {
        deps = given
        return BUILDERS.createApp(given, routes)
      },
      createHttpServer: () => ({
        listen: () => Promise.resolve(NO_ADDRESS),
        apply: () => {},
        connections: 0,
        drain: () => Promise.resolve(),
      }),
    },
  })
  if (deps === undefined) throw new Error('the service was built without an app')
  return { deps, close: () => service.close() }
}

const NO_ADDRESS: AddressInfo = { address: '', family: 'none', port: 0 }
