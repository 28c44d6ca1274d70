import { join } from 'node:path'
import { readTelemetryKey } from '../book/events/key-file.ts'
import type { Config } from '../config/config.ts'
import { tenantFolder } from '../core/telemetry/pseudonyms.ts'
import { createTogether } from '../fingerprints/build/build-together.ts'
import { createFingerprints, type Fingerprints } from '../fingerprints/fingerprints.ts'
import { fingerprintsFolder } from '../fingerprints/folder-files.ts'
import type { Logger } from '../observability/logger.ts'
import type { Store } from '../store/store.ts'
import { openBuilds } from './builds.ts'

/**
 * The fingerprints of a service. If something is published, fingerprints are built from telemetry
 * in a thread of their own, at the start and from time to time. If building fails, the log reports
 * it and the earlier fingerprints stay. @param settings what is published, asked each time
 */
export function openConfiguredFingerprints(
  config: Config,
  settings: () => Pick<Config['fingerprints'], 'publish'>,
  { store, logger, key, intervalMs, tenants }: FingerprintParts,
): Fingerprints {
  const { data_dir } = config
  const fingerprints = createFingerprints({
    store,
    now: Date.now,
    patterns: () => settings().publish.filter(each => !each.startsWith(TEAM)),
    teams: () => teamsIn(settings().publish),
    folderOf(tenant) {
      const own = readTelemetryKey(data_dir)
      return own === null ? null : join(fingerprintsFolder(data_dir), tenantFolder(own, tenant))
    },
    onBug: bug => logger.error({ bug }, 'unexpected error in the thread of fingerprints'),
    onLost: reason => logger.warn({ reason }, 'the thread of fingerprints was replaced'),
  })
  const isPublished = () => settings().publish.length > 0
  const builder = openBuilder({ config, isPublished, store, logger, key, intervalMs, tenants })
  return {
    ...fingerprints,
    async close() {
      await Promise.all([fingerprints.close(), builder.close()])
    },
  }
}

export interface FingerprintParts {
  readonly store: Store
  readonly logger: Pick<Logger, 'error' | 'warn' | 'info'>
  /** The key of telemetry; `null` if it is off. */
  readonly key: Uint8Array | null
  /** How often they are built again. */
  readonly intervalMs: number
  tenants(): readonly string[]
}

/** How many times in an interval replicas look what is due. */
const LOOKS = 8
const MIN_LOOK_MS = 500

interface BuilderOptions extends FingerprintParts {
  readonly config: Config
  isPublished(): boolean
}

/** Builds fingerprints at the start and from time to time; with others if they share the store. */
function openBuilder({ config, isPublished, store, logger, key, ...terms }: BuilderOptions): {
  close(): Promise<unknown>
} {
  const { data_dir: dataDir, fingerprints } = config
  if (key === null) return { close: async () => {} }
  const { intervalMs, tenants } = terms
  const onBuilt = (built: unknown) => logger.info({ built }, 'fingerprints built')
  if (config.store.redis === undefined) {
    return openBuilds({
      logger,
      lookMs: intervalMs,
      isWanted: isPublished,
      turnOf: thread => async () =>
        onBuilt(await thread.run('', 'buildAll', { dataDir, now: Date.now() })),
    })
  }
  const isShared =
    fingerprints.share_endpoints_with_team ||
    Object.values(fingerprints.share_with_provider).includes(true)
  return openBuilds({
    logger,
    lookMs: Math.max(MIN_LOOK_MS, intervalMs / LOOKS),
    isWanted: () => isShared || isPublished(),
    turnOf: thread =>
      createTogether({
        store,
        tenants,
        dataDir,
        intervalMs,
        thread,
        now: Date.now,
        folderOf: tenant => tenantFolder(key, tenant),
        onBuilt,
      }).turn,
  })
}

const TEAM = 'team:'

/** The teams that are named among patterns of endpoints. */
function teamsIn(published: readonly string[]): readonly string[] {
  return published.filter(each => each.startsWith(TEAM)).map(each => each.slice(TEAM.length))
}
