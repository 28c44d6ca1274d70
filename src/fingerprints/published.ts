import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { BoundedMap } from '../core/base/bounded-map.ts'
import { readBytes, SPANS_FILE } from './folder-files.ts'
import type { FingerprintThread } from './task-thread.ts'
import type { PublishedDocument } from './tasks.ts'

/** The fingerprints that an installation publishes of its own results. */
export interface Published {
  /**
   * The published part of a tenant's closed spans. It is empty if none were built, or no pattern
   * matches.
   */
  document(tenant: string): Promise<PublishedDocument>
}

export interface PublishedOptions {
  readonly thread: Pick<FingerprintThread, 'run'>
  readonly now: () => number
  /** The folder of a tenant's fingerprints; `null` if there can be none. */
  folderOf(tenant: string): string | null
  /** Patterns of endpoints that may be published, asked each time. */
  patterns(): readonly string[]
  /** The tenant's teams whose uploads are published too, asked each time; absent: none. */
  teams?(): readonly string[]
  /** The records of a team's members; `null` if there is no team. */
  recordsOf?(tenant: string, team: string): Promise<readonly Uint8Array[] | null>
}

/** How long a document is returned without checking the file again, in milliseconds. */
const LOOK_MS = 1_000
/** After that spans may have left the window. */
const MAX_AGE_MS = 3_600_000
/** The same with uploads of others, which come at any time. */
const MAX_AGE_WITH_TEAMS_MS = 60_000
const MAX_CACHED = 64

interface Cached {
  readonly document: PublishedDocument
  readonly patterns: readonly string[]
  readonly teams: readonly string[]
  /** When the file was written; 0 if there is none. */
  readonly modified: number
  readonly madeAt: number
  lookedAt: number
}

export function createPublished(options: PublishedOptions): Published {
  const { thread, now, folderOf, patterns } = options
  const cache = new BoundedMap<string, Cached>(MAX_CACHED)
  const making = new Map<string, Promise<PublishedDocument>>()

  async function look(tenant: string): Promise<PublishedDocument> {
    const folder = folderOf(tenant)
    const file = folder === null ? null : join(folder, SPANS_FILE)
    const modified = file === null ? 0 : await modifiedAt(file)
    const at = now()
    const wanted = patterns()
    const teams = options.teams?.() ?? []
    const maxAge = teams.length === 0 ? MAX_AGE_MS : MAX_AGE_WITH_TEAMS_MS
    const cached = cache.get(tenant)
    if (
      cached !== undefined &&
      cached.modified === modified &&
      Math.abs(at - cached.madeAt) < maxAge &&
      isDeepStrictEqual([cached.patterns, cached.teams], [wanted, teams])
    ) {
      cached.lookedAt = at
      return cached.document
    }
    const bytes = file === null ? null : await readBytes(file)
    const document = await thread.run(`${tenant} merges`, 'publish', {
      bytes,
      records: await recordsOf(tenant, teams),
      patterns: wanted,
      now: at,
    })
    cache.set(tenant, { document, patterns: wanted, teams, modified, madeAt: at, lookedAt: at })
    return document
  }

  async function recordsOf(tenant: string, teams: readonly string[]): Promise<Uint8Array[]> {
    const all = await Promise.all(teams.map(team => options.recordsOf?.(tenant, team)))
    return all.flatMap(records => records ?? [])
  }

  return {
    document(tenant) {
      const cached = cache.get(tenant)
      if (cached !== undefined && Math.abs(now() - cached.lookedAt) < LOOK_MS) {
        return Promise.resolve(cached.document)
      }
      const under = making.get(tenant) ?? look(tenant).finally(() => making.delete(tenant))
      making.set(tenant, under)
      return under
    },
  }
}

/**
 * What is published of one endpoint; `null` if nothing is. @param name an endpoint's, which JSON
 * writes as it is
 */
export function entryOf({ lines }: PublishedDocument, name: string): unknown {
  const text = Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength)
  const start = text.indexOf(`{"endpoint_class":"${name}",`)
  return start === -1 ? null : JSON.parse(text.toString('utf8', start, text.indexOf('\n', start)))
}

/** Unix milliseconds; 0 if there is no file. */
async function modifiedAt(file: string): Promise<number> {
  try {
    return (await stat(file)).mtimeMs
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 0
    throw error
  }
}
