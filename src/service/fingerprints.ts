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
 * it and the earlier fingerprints stay. @param patterns the published endpoints, asked each time
 */
export function openConfiguredFingerprints(
  { data_dir, fingerprints: { build_interval_ms }, telemetry }: Config,
  patterns: () => readonly string[],
  {
    store,
    logger,
  }: { readonly store: Store; readonly logger: Pick<Logger, 'error' | 'warn' | 'info'> },
): Fingerprints {
  const fingerprints = createFingerprints({
    store,
    now: Date.now,
    patterns,
    folderOf(tenant) {
      const key = readTelemetryKey(data_dir)
      return key === null ? null : join(fingerprintsFolder(data_dir), tenantFolder(key, tenant))
    },
    onBug: bug => logger.error({ bug }, 'unexpected error in the thread of fingerprints'),
    onLost: reason => logger.warn({ reason }, 'the thread of fingerprints was replaced'),
  })
  let builder: Worker | null = null

  function build(): void {
    if (builder !== null || patterns().length === 0) return
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

/** TypeScript here, JavaScript in the published package. */
function builderModule(): URL {
  return new URL(`../fingerprints/build/build-thread${extname(import.meta.url)}`, import.meta.url)
}
