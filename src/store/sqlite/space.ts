import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Failure, Result } from '../store.ts'
import { fail } from '../values/failure.ts'
import type { StoreStats } from '../values/store-figures.ts'
import { FILE_NAME } from './open.ts'
import { PAGE_BYTES, type Settings } from './settings.ts'
import { NO_ROOM } from './sqlite-errors.ts'
import type { Tenants } from './tenants.ts'

/** How full the file is, in pages. Both figures stand in the file's header: no row is looked at. */
export interface Pages {
  readonly total: number
  readonly free: number
}

/** Keeps the file under its cap and tenants under their share. */
export interface Space {
  /**
   * Makes room for `bytes` of a tenant's, evicting what was used least recently and is not pinned,
   * of the tenant for its share, of all for the file. A failure means that nothing more may be
   * written.
   */
  claim(tenant: number, bytes: number, now: number): Failure | undefined
  /** Whether so little is left that eviction should begin before a call waits for it. */
  short(): boolean
  pages(): Pages
}

export interface SpaceDeps {
  readonly settings: Settings
  readonly tenants: Tenants
  /** Removes the next body, of one tenant or of any; `false` if there is none that may go. */
  evict(tenant: number | null, now: number): boolean
}

/**
 * Evictions that one put may wait for; then it is refused, and the next finds the room that they
 * made.
 */
const MAX_EVICTIONS = 512
/** What fits in a page beside its own head. */
const PAYLOAD_BYTES = 4000
/** Pages that a put may change beside its own: rows, indexes, map of pages. */
const EXTRA_PAGES = 8
/** Share of the pages that stays free, because some sizes are only estimated. */
const RESERVE = 1 / 128
/** Share of the pages under which eviction begins in advance. */
const LOW_WATER = 1 / 32

export function createSpace(database: DatabaseSync, deps: SpaceDeps): Space {
  const { settings, tenants, evict } = deps
  const total = database.prepare('PRAGMA page_count')
  const free = database.prepare('PRAGMA freelist_count')
  const limit = Math.floor(settings.maxPages * (1 - RESERVE))

  const pages = () => ({
    total: Number(total.get()?.['page_count']),
    free: Number(free.get()?.['freelist_count']),
  })
  const used = () => {
    const now = pages()
    return now.total - now.free
  }

  return {
    claim(tenant, bytes, now) {
      let evictions = 0
      const makeRoom = (of: number | null, enough: () => boolean, refusal: Failure) => {
        while (!enough()) {
          if (evictions++ === MAX_EVICTIONS) return fail('busy', 'room is being made, try again')
          if (!evict(of, now)) return refusal
        }
        return undefined
      }
      const share = settings.tenantMaxBytes - bytes
      const needed = limit - Math.ceil(bytes / PAYLOAD_BYTES) - EXTRA_PAGES
      if (share < 0) return QUOTA
      if (needed < 0) return FULL
      return (
        makeRoom(tenant, () => tenants.totals(tenant).bytes <= share, QUOTA) ??
        makeRoom(null, () => used() <= needed, FULL)
      )
    },
    short: () => used() > limit * (1 - LOW_WATER),
    pages,
  }
}

const QUOTA = fail('quota', NO_ROOM)
const FULL = fail('full', NO_ROOM)

function pageBytes(pages: number): number {
  return pages * PAGE_BYTES
}

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
