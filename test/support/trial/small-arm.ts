import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StartArm } from '../../../bench/trial/arms.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { startService } from '../../../src/service/service.ts'
import { NO_THREAD } from '../small-service.ts'
import { vocabularies } from '../vocabularies.ts'

/** A service in this process, since most of a task's time are threads and their messages. */
export const startSmallArm: StartArm = async ({ config, pipeline }, upstream, vendor, clearing) => {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-trial-test-'))
  const env = {
    ...{ HAVERSACK_CONFIG: config, HAVERSACK_PIPELINE_CONFIG: pipeline },
    ...{ HAVERSACK_DATA_DIR: folder, HAVERSACK_PORT: '0', HAVERSACK_LOG_LEVEL: 'silent' },
    [`HAVERSACK_${vendor.toUpperCase()}_URL`]: upstream,
  }
  const limits = clearing === undefined ? {} : { clearing }
  const seams = { vocabularies, builders: NO_THREAD, limits }
  const service = await startService(loadConfig({ env }), seams)
  return {
    url: service.url,
    async close() {
      await service.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
