import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readTelemetryKeys } from '../../book/events/key-file.ts'
import { telemetryFolder } from '../../book/events/layout.ts'
import { isMissing } from '../../book/events/read-lines.ts'
import { tenantsOf } from '../../book/events/read-telemetry.ts'
import { purgeLedger } from '../../book/rows/purge-ledger.ts'
import { tenantFolder } from '../../core/telemetry/pseudonyms.ts'
import { withBuildLock } from '../../fingerprints/build/build-lock.ts'
import { fingerprintsFolder } from '../../fingerprints/folder-files.ts'
import { learnedFolder } from '../../mcp/catalogue/search/learned-tools.ts'

/** Files of a tenant that were deleted. */
export interface PurgedFiles {
  readonly telemetry_files: number
  readonly fingerprint_files: number
  readonly ledger_rows: number
}

/**
 * Deletes what a data folder has of a tenant beside the store: telemetry, fingerprints that were
 * built from it or fetched, and rows of the ledger. A running service can still write what it has
 * in memory, of some seconds.
 * @throws Error if the key of telemetry is missing, so that its folders cannot be assigned to
 * tenants, or while fingerprints are built; SecretFileError
 */
export async function purgeTenantFiles(dataDir: string, tenant: string): Promise<PurgedFiles> {
  const [telemetry, fingerprints] = [telemetryFolder(dataDir), fingerprintsFolder(dataDir)]
  const keys = readTelemetryKeys(dataDir)
  await deleteFolder(learnedFolder(dataDir, tenant))
  const ledger_rows = purgeLedger(dataDir, tenant)
  if (keys.length === 0) {
    const nameless = [...(await tenantsOf(telemetry)), ...(await tenantsOf(fingerprints))]
    if (nameless.length === 0) return { telemetry_files: 0, fingerprint_files: 0, ledger_rows }
    throw new Error(
      `telemetry.key is missing in ${dataDir}: the tenants of its telemetry are unknown. ` +
        `Delete ${telemetry} and ${fingerprints} as a whole`,
    )
  }
  let [telemetry_files, fingerprint_files] = [0, 0]
  for (const key of keys) {
    const name = tenantFolder(key, tenant)
    const [own, built] = [join(telemetry, name), join(fingerprints, name)]
    const [events, files] = [await filesIn(own), await filesIn(built)]
    if (events.length + files.length > 0) {
      // A build that has read the events would write its files after they were deleted.
      await withBuildLock(built, async () => {
        await deleteFolder(own)
        await deleteFolder(built)
      })
    }
    telemetry_files += events.length
    fingerprint_files += files.length
  }
  return { telemetry_files, fingerprint_files, ledger_rows }
}

/** A service may write a file while its folder is being emptied. */
function deleteFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 10 })
}

/** Files below a folder; none if it is not there. */
async function filesIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    return entries.filter(entry => entry.isFile()).map(({ name }) => name)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
