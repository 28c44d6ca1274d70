import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Config } from '../config/config.ts'
import { tenantFolder } from '../core/telemetry/pseudonyms.ts'
import { createFingerprints, type Fingerprints } from '../fingerprints/fingerprints.ts'
import { fingerprintsFolder } from '../fingerprints/span-file.ts'
import type { Logger } from '../observability/logger.ts'
import type { Store } from '../store/store.ts'
import { readTelemetryKey } from '../telemetry/key-file.ts'

/**
 * The fingerprints of a service. If something is published, fingerprints are built from telemetry
 * in a thread of their own, at the start and from time to time. If building fails, the log reports
 * it and the earlier fingerprints stay. @param settings what is published, asked each time
 */
export function openConfiguredFingerprints(
  { data_dir, fingerprints: { build_interval_ms }, telemetry }: Config,
  settings: () => Pick<Config['fingerprints'], 'publish' | 'publish_from'>,
  {
    store,
    logger,
  }: { readonly store: Store; readonly logger: Pick<Logger, 'error' | 'warn' | 'info'> },
): Fingerprints {
  const fingerprints = createFingerprints({
    store,
    now: Date.now,
    patterns: () => settings().publish,
    teams: () => teamsIn(settings().publish_from),
    folderOf(tenant) {
      if (!settings().publish_from.includes('own')) return null
      const key = readTelemetryKey(data_dir)
      return key === null ? null : join(fingerprintsFolder(data_dir), tenantFolder(key, tenant))
    },
    onBug: bug => logger.error({ bug }, 'unexpected error in the thread of fingerprints'),
    onLost: reason => logger.warn({ reason }, 'the thread of fingerprints was replaced'),
  })
  let builder: Worker | null = null

  function build(): void {
    const { publish, publish_from } = settings()
    if (builder !== null || publish.length === 0 || !publish_from.includes('own')) return
    const started = new Worker(builderModule(), { workerData: { dataDir: data_dir } })
    builder = started
    started.on('message', built => logger.info({ built }, 'fingerprints built'))
    started.on('error', err => logger.error({ err }, 'fingerprints cannot be built'))
    started.on('exit', () => {
      builder = null
    })
    started.unref()
  }

  const timer = telemetry.enabled ? setInterval(build, build_interval_ms).unref() : undefined
  if (telemetry.enabled) build()
  return {
    ...fingerprints,
    async close() {
      clearInterval(timer)
      // Files are renamed into place when they are complete, so nothing is lost if the thread ends.
      await Promise.all([fingerprints.close(), builder?.terminate()])
    },
  }
}

const TEAM = 'team:'

/** The teams that are named among sources. */
function teamsIn(sources: readonly string[]): readonly string[] {
  return sources.filter(each => each.startsWith(TEAM)).map(each => each.slice(TEAM.length))
}

/** TypeScript here, JavaScript in the published package. */
function builderModule(): URL {
  return new URL(`../fingerprints/build/build-thread${extname(import.meta.url)}`, import.meta.url)
}
