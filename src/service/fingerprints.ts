import { extname, join } from 'node:path'
import { readTelemetryKey } from '../book/events/key-file.ts'
import type { Config } from '../config/config.ts'
import { tenantFolder } from '../core/telemetry/pseudonyms.ts'
import { createTogether } from '../fingerprints/build/build-together.ts'
import type { BuildTasks } from '../fingerprints/build/tasks.ts'
import { createFingerprints, type Fingerprints } from '../fingerprints/fingerprints.ts'
import { fingerprintsFolder } from '../fingerprints/folder-files.ts'
import type { Logger } from '../observability/logger.ts'
import { createTaskThread, type TaskThread } from '../runtime/task-thread.ts'
import type { Store } from '../store/store.ts'

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

interface BuildsOptions {
  readonly logger: Pick<Logger, 'error' | 'warn' | 'info'>
  /** From the end of a turn to the next. */
  readonly lookMs: number
  isWanted(): boolean
  /** What is done each time. */
  turnOf(thread: Pick<TaskThread<BuildTasks>, 'run'>): () => Promise<void>
}

/** Telemetry of a window may be some GB. */
const BUILD_LIMIT_MS = 600_000

/** Builds fingerprints in a thread, at once and from time to time, as long as it is not closed. */
function openBuilds({ isWanted, turnOf, lookMs, logger }: BuildsOptions): {
  close(): Promise<void>
} {
  const thread = createTaskThread<BuildTasks>({
    name: 'fingerprint builds',
    module: new URL(
      `../fingerprints/build/tasks-thread${extname(import.meta.url)}`,
      import.meta.url,
    ),
    limitMs: BUILD_LIMIT_MS,
    onBug: bug => logger.error({ bug }, 'unexpected error in the thread of fingerprint builds'),
    onLost: reason => logger.warn({ reason }, 'the thread of fingerprint builds was replaced'),
  })
  const turn = turnOf(thread)
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  /** A line for each change, not for each look. */
  let failure = ''

  async function look(): Promise<void> {
    try {
      if (isWanted()) await turn()
      failure = ''
    } catch (err) {
      const detail = err instanceof Error ? err.message : String(err)
      if (detail !== failure && !isClosed) logger.warn({ detail }, 'fingerprints are not built')
      failure = detail
    }
    if (!isClosed) timer = setTimeout(() => (looking = look()), lookMs).unref()
  }

  let looking = look()
  return {
    async close() {
      isClosed = true
      clearTimeout(timer)
      // Files are renamed into place when they are complete, so nothing is lost if the thread ends.
      await thread.close()
      await looking
    },
  }
}
