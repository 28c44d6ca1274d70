import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Result, StoreStats } from '../store.ts'
import { FILE_NAME } from './open.ts'
import type { Settings } from './settings.ts'
import { pageBytes, type Space } from './space.ts'
import type { Tenants } from './tenants.ts'

export interface StatsDeps {
  readonly settings: Settings
  readonly tenants: Tenants
  readonly space: Space
  readonly counters: StoreStats['counters']
}

/** Returns a function that returns the figures of one tenant, or those of all with the file's. */
export function createStats(
  database: DatabaseSync,
  { settings, tenants, space, counters }: StatsDeps,
): (tenant: string | undefined) => Result<StoreStats> {
  const tombstones = database.prepare(
    'SELECT coalesce(max(id) - min(id) + 1, 0) AS count FROM tombstone',
  )
  return tenant => {
    if (tenant !== undefined) {
      const { bytes, ...rest } = tenants.totals(tenants.find(tenant))
      return { ok: true, ...rest, stored_bytes: bytes }
    }
    const sum = tenants.sum()
    const { free } = space.pages()
    return {
      ok: true,
      bodies: sum.bodies,
      records: sum.records,
      stored_bytes: sum.bytes,
      file: {
        max_bytes: settings.maxBytes,
        file_bytes: fileBytes(settings, ''),
        wal_bytes: fileBytes(settings, '-wal'),
        free_bytes: pageBytes(free),
        tombstones: Number(tombstones.get()?.['count']),
        tenants: sum.tenants,
      },
      ...(counters === undefined ? {} : { counters: { ...counters } }),
    }
  }
}

function fileBytes({ folder }: Settings, suffix: string): number {
  return statSync(join(folder, FILE_NAME + suffix), { throwIfNoEntry: false })?.size ?? 0
}
