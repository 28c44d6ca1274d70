import { type Access, createAccess, LOCAL } from '../access/access.ts'
import type { KeyRecord } from '../access/key-record.ts'
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
    /** Called with the SHA-256 of keys that have left the file, or that are new in it. */
    onChange(changed: (gone: readonly string[], added: readonly string[]) => void): void
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
  let before = readKeysFile(path)
  let onChange: (gone: readonly string[], added: readonly string[]) => void = () => {}
  const access = createAccess(before, now, shared)
  return {
    access,
    file: {
      watch,
      readAgain() {
        const keys = readKeysFile(path)
        access.replace(keys)
        const [gone, added] = [without(before, keys), without(keys, before)]
        before = keys
        if (gone.length + added.length > 0) onChange(gone, added)
        return { keys: keys.length, tenants: access.tenants }
      },
      onChange(changed) {
        onChange = changed
      },
    },
  }
}

/** The tenants of keys in force; the local one if there are no keys. */
export function tenantsOf(access: Pick<Access, 'records'>): readonly string[] {
  const records = access.records()
  return records === null ? [LOCAL.tenant] : [...new Set(records.map(({ tenant }) => tenant))]
}

/** SHA-256 of the keys of `some` that `others` lack. */
function without(some: readonly KeyRecord[], others: readonly KeyRecord[]): readonly string[] {
  const known = new Set(others.map(({ sha256 }) => sha256))
  return some.flatMap(({ sha256 }) => (known.has(sha256) ? [] : [sha256]))
}
