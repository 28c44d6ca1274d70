import type { Config } from '../../src/config/config.ts'
import { createLogger } from '../../src/observability/logger.ts'
import { BUILDERS, type Builders } from '../../src/service/builders.ts'
import { type EmbeddedService, startEmbedded } from '../../src/service/embedded/embedded.ts'
import { openOwnStore } from './own-store.ts'
import { ownThread } from './own-thread.ts'
import { vocabularies } from './vocabularies.ts'

/**
 * A service that starts no thread but that of telemetry, if it is on. Threads take most of a start, and each compiles everything
 * again.
 */
export const NO_THREAD: Partial<Builders> = {
  startConfiguredThreads: (config, options) =>
    BUILDERS.startConfiguredThreads(config, options, ownThread),
  openConfiguredBook: ({ ledger, ...config }, terms, reports) =>
    BUILDERS.openConfiguredBook(
      { ...config, ledger: { ...ledger, enabled: false } },
      terms,
      reports,
    ),
  openServiceStore: (config, reports) =>
    BUILDERS.openServiceStore(config, reports, options => openOwnStore(options)),
}

/** A service without a port, which logs nothing and starts no thread. */
export function startSmallEmbedded(config: Config): Promise<EmbeddedService> {
  return startEmbedded(config, createLogger('silent'), { vocabularies, builders: NO_THREAD })
}
