import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import type { Book } from '../../book/book.ts'
import type { Config } from '../../config/config.ts'
import { makeFolder } from '../../files/make-folder.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Store } from '../../store/store.ts'
import { purgeTenantFiles } from '../book/purge-tenant-files.ts'
import type { ServiceKeys } from '../keys.ts'
import { type Notice, revokedBy, watchNotices } from './notices.ts'

export interface FollowedBy {
  readonly store: Store
  readonly keys: Pick<ServiceKeys, 'access' | 'file'>
  readonly book: Pick<Book, 'alone' | 'flush'> | null
  readonly logger: Pick<Logger, 'info' | 'error'>
  onBug(error: unknown): void
}

/**
 * Does what other replicas say: refuses keys that were revoked, and deletes this data folder's
 * files of tenants that were purged. Tells them in turn of keys that have left the keys file, and
 * of such that came back. Without a shared store it does nothing.
 */
export function followNotices(
  { store: { redis }, data_dir }: Pick<Config, 'store' | 'data_dir'>,
  { store, keys, book, logger, onBug }: FollowedBy,
): { close(): Promise<void> } {
  if (redis === undefined) return { close: async () => {} }
  const done = openDonePurges(data_dir)
  /** Purges that have failed: the log has each once. */
  const failed = new Set<string>()
  let revoked: ReadonlySet<string> = new Set()

  async function purge(notice: Notice & { readonly kind: 'purge' }): Promise<boolean> {
    const { id, tenant, generation } = notice
    if (generation !== undefined) store.forgetPurged?.(tenant, generation)
    try {
      if ((await book?.flush()) === false) throw new Error('the ledger is held by another process')
      const files = () => purgeTenantFiles(data_dir, tenant)
      // What waits to be written was recorded before the purge.
      const deleted = await (book === null ? files() : book.alone(files))
      done.add(id, Date.now())
      logger.info({ tenant, ...deleted }, 'files of a purged tenant deleted')
      return true
    } catch (err) {
      if (!failed.has(id))
        logger.error({ err, tenant }, 'files of a purged tenant are not deleted yet')
      failed.add(id)
      return false
    }
  }

  const notices = watchNotices({
    store,
    now: Date.now,
    onBug,
    async apply(all) {
      revoked = revokedBy(all)
      keys.access.refuse(revoked)
      let isDone = true
      for (const notice of all) {
        if (notice.kind === 'purge' && !done.has(notice.id))
          isDone = (await purge(notice)) && isDone
      }
      return isDone
    },
  })
  keys.file?.onChange((gone, added) => {
    const back = added.filter(sha256 => revoked.has(sha256))
    const news = [
      ...gone.map(sha256 => ({ kind: 'revoke', sha256 }) as const),
      ...back.map(sha256 => ({ kind: 'restore', sha256 }) as const),
    ]
    if (news.length > 0) notices.tell(news)
  })
  return notices
}

const PURGES_FILE = 'purges.json'
/** Longer than a notice of a purge is kept. */
const KEPT_MS = 180 * 86_400_000

/** When each purge was done, by the id of its notice. */
const fileSchema = z.record(z.string(), z.number())

/** Which purges a data folder has carried out, also before the process started. */
interface DonePurges {
  has(id: string): boolean
  /** Notes a purge. @throws the file system's error */
  add(id: string, now: number): void
}

/** A file that cannot be read counts as empty: a purge that is made again does no harm. */
function openDonePurges(dataDir: string): DonePurges {
  const file = join(dataDir, PURGES_FILE)
  let done = read(file)
  return {
    has: id => Object.hasOwn(done, id),
    add(id, now) {
      const kept = Object.entries(done).filter(([, atMs]) => now - atMs < KEPT_MS)
      done = Object.fromEntries([...kept, [id, now]])
      makeFolder(dirname(file))
      writeFileSync(`${file}.next`, JSON.stringify(done), { mode: 0o600, flush: true })
      renameSync(`${file}.next`, file)
    },
  }
}

function read(file: string): Readonly<Record<string, number>> {
  try {
    return fileSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return {}
  }
}
