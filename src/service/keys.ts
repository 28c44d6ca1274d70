import { type Access, createAccess } from '../access/access.ts'
import { readKeysFile } from '../access/keys-file.ts'
import { type FileWatch, watchFile } from '../access/watch-file.ts'
import type { SharedRates } from '../core/base/shared-rates.ts'

/** The keys of a service, and the file that they come from. */
export interface ServiceKeys {
  readonly access: Access
  /** `null` without a keys file. */
  readonly file: {
    readonly watch: FileWatch
    /** Reads the file again and returns what the log should say. @throws KeysFileError */
    readAgain(): object
  } | null
}

/**
 * @param shared rates that hold for all replicas; absent: for this process
 * @throws KeysFileError if the file cannot be used
 */
export async function openConfiguredKeys(
  path: string | undefined,
  shared?: () => SharedRates | undefined,
): Promise<ServiceKeys> {
  const now = () => performance.now()
  if (path === undefined) return { access: createAccess(null, now), file: null }
  // The watch begins before the first read, so that no change is missed.
  const watch = await watchFile(path)
  const access = createAccess(readKeysFile(path), now, shared)
  return {
    access,
    file: {
      watch,
      readAgain() {
        const keys = readKeysFile(path)
        access.replace(keys)
        return { keys: keys.length, tenants: access.tenants }
      },
    },
  }
}
