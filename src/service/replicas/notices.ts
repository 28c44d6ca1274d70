import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Result, Store, StoredRecord } from '../../store/store.ts'

/**
 * What one process tells all that share its store: a tenant was purged, a key was revoked, or a
 * revoked key is in force again. A key is named by its SHA-256, since an id may get another key.
 */
const newsSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('purge'),
    tenant: z.string(),
    /** What was purged, as the store names it. */
    generation: z.string().optional(),
  }),
  z.object({ kind: z.literal('revoke'), sha256: z.string() }),
  z.object({ kind: z.literal('restore'), sha256: z.string() }),
])

export type News = Readonly<z.output<typeof newsSchema>>

const noticeSchema = z.intersection(newsSchema, z.object({ id: z.string(), atMs: z.number() }))

export type Notice = News & { readonly id: string; readonly atMs: number }

/** One that a later version told. It stays in the list for the processes that can read it. */
const foreignSchema = z.looseObject({ kind: z.string(), id: z.string(), atMs: z.number() })

type Foreign = Readonly<z.output<typeof foreignSchema>>
type Listed = Notice | Foreign

const listSchema = z.array(z.union([noticeSchema, foreignSchema]))

/** No tenant of a client can have this name. */
export const SERVICE_TENANT = ' service'
const KEY = { tenant: SERVICE_TENANT, namespace: 'notices', key: 'all' } as const
const DAY_MS = 86_400_000
/** The data folder of a replica that was away for longer keeps what it has of a purged tenant. */
const PURGE_KEPT_MS = 90 * DAY_MS
/** By then every replica has the new keys file. */
const REVOCATION_KEPT_MS = DAY_MS
/** If there are more notices, the oldest leave. */
const MAX_NOTICES = 1_000
/** Processes that write at the same moment try again so often. */
const MAX_TRIES = 50
const LOOK_MS = 1_000
/** A server that syncs every second may lose so much on a slow disk. */
const STAY_MS = 2_000
/** How long a server may be away at the end of that, and how often it is asked. */
const BACK_MS = 30_000
const ASK_AGAIN_MS = 250
const NOTHING = new Uint8Array(0)

type NoticeRecords = Pick<Store, 'readRecord' | 'writeRecord'>

/**
 * Tells all processes. They learn of it within a second; one that is away learns of it later. A
 * server that crashes may lose what it has answered within two seconds, and only this process could
 * write it again. So a command, which ends after this, stays for so long.
 * @param stays whether it does: not if a write is on a replica or a disk when it is answered
 */
export async function tellReplicas(
  store: NoticeRecords,
  news: readonly News[],
  now: number,
  stays = false,
): Promise<Result<object>> {
  const fresh = noticesOf(news, now)
  let told = await addNotices(store, fresh, now)
  if (!told.ok || !stays) return told
  await sleep(STAY_MS)
  const untilMs = performance.now() + BACK_MS
  for (;;) {
    told = await addNotices(store, fresh, now)
    if (told.ok || performance.now() > untilMs) return told
    await sleep(ASK_AGAIN_MS)
  }
}

/** Adds those that are not there. */
function addNotices(
  store: NoticeRecords,
  fresh: readonly Notice[],
  now: number,
): Promise<Result<object>> {
  const isIn = (there: readonly Listed[], { id }: Notice) => there.some(each => each.id === id)
  const lacking = (there: readonly Listed[]) => fresh.filter(each => !isIn(there, each))
  return change(store, there => [...there, ...lacking(there)], now)
}

function noticesOf(news: readonly News[], now: number): readonly Notice[] {
  return news.map(each => ({ ...each, id: randomBytes(8).toString('hex'), atMs: now }))
}

/** Replaces the notices that the store has. */
async function change(
  store: NoticeRecords,
  changed: (there: readonly Listed[]) => readonly Listed[],
  now: number,
): Promise<Result<object>> {
  for (let left = MAX_TRIES; ; left--) {
    const found = await store.readRecord(KEY)
    if (!found.ok && found.reason !== 'not_found' && found.reason !== 'gone') return found
    const all = changed(found.ok ? parse(found) : [])
    const kept = all.filter(each => isKept(each, now)).slice(-MAX_NOTICES)
    const value = Buffer.from(JSON.stringify(kept))
    const version = found.ok ? { ifVersion: found.version } : {}
    const none = !found.ok && found.reason === 'not_found' ? { ifVersion: 0 } : {}
    const write = { ...KEY, value, ttlMs: PURGE_KEPT_MS, ...version, ...none }
    const written = await store.writeRecord(write)
    if (written.ok || written.reason !== 'conflict' || left === 0) return written
  }
}

function isKept({ kind, atMs }: Listed, now: number): boolean {
  const isShort = kind === 'revoke' || kind === 'restore'
  return now - atMs < (isShort ? REVOCATION_KEPT_MS : PURGE_KEPT_MS)
}

function isOurs(listed: Listed): listed is Notice {
  return noticeSchema.safeParse(listed).success
}

/** Those of a record; none if it holds something else. */
function parse({ value }: StoredRecord): readonly Listed[] {
  try {
    return listSchema.parse(JSON.parse(Buffer.from(value).toString()))
  } catch {
    return []
  }
}

export interface NoticesOptions {
  readonly store: NoticeRecords
  /** Unix milliseconds. */
  readonly now: () => number
  /**
   * Called with all notices that are known, in their order, when there are others than before. If
   * it returns false, it is called again a second later.
   */
  apply(notices: readonly Notice[]): Promise<boolean>
  onBug(error: unknown): void
}

/** Notices of all processes, as one of them follows them. */
export interface Notices {
  /** Tells all processes, this one at once. It is tried again until the store has it. */
  tell(news: readonly News[]): void
  close(): Promise<void>
}

/** Reads notices once a second, until it is closed. */
export function watchNotices({ store, now, apply, onBug }: NoticesOptions): Notices {
  /** They hold even if the store has forgotten them. */
  let known: readonly Listed[] = []
  /** Own ones that the store does not have yet. */
  let fresh: readonly Notice[] = []
  /** What was read last. A store that has forgotten may give its version to another list. */
  let seen: Uint8Array = NOTHING
  /** Counts what there is to apply, since more may come while it is applied. */
  let due = 0
  let applied = 0
  let isClosed = false
  let timer: NodeJS.Timeout | undefined

  async function look(): Promise<void> {
    const found = await store.readRecord(KEY)
    if (found.ok && Buffer.compare(found.value, seen) !== 0) {
      learn(parse(found))
      seen = found.value
    }
    const isEmpty = !found.ok && found.reason === 'not_found'
    if (isEmpty || found.ok) await writeLacking(found.ok ? parse(found) : [])
    const count = due
    if (applied === count) return
    if (await apply([...known.filter(isOurs), ...fresh])) applied = count
  }

  function learn(there: readonly Listed[]): void {
    known = [...lackedBy(there), ...there]
    due++
  }

  /** What this process knows and others do not: the store has forgotten it. */
  function lackedBy(there: readonly Listed[]): readonly Listed[] {
    const ids = new Set(there.map(({ id }) => id))
    return known.filter(each => !ids.has(each.id) && isKept(each, now()))
  }

  async function writeLacking(there: readonly Listed[]): Promise<void> {
    // If there were too many, the oldest have left on purpose.
    const isFull = there.length === MAX_NOTICES
    const isLacking = !isFull && lackedBy(there).length > 0
    if (!isLacking && fresh.length === 0) return
    const own = fresh
    const merge = (some: readonly Listed[]) => [...(isFull ? [] : lackedBy(some)), ...some, ...own]
    const written = await change(store, merge, now())
    if (!written.ok) return
    known = [...known, ...own]
    fresh = fresh.filter(each => !own.includes(each))
  }

  async function lookAgain(): Promise<void> {
    try {
      await look()
    } catch (error) {
      onBug(error)
    }
    if (!isClosed) timer = setTimeout(() => (looking = lookAgain()), LOOK_MS).unref()
  }

  let looking = lookAgain()
  return {
    tell(news) {
      fresh = [...fresh, ...noticesOf(news, now())]
      due++
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      await looking
    },
  }
}

/** The keys that are revoked after all of these notices, by their SHA-256. */
export function revokedBy(notices: readonly Notice[]): ReadonlySet<string> {
  const revoked = new Set<string>()
  for (const notice of notices) {
    if (notice.kind === 'revoke') revoked.add(notice.sha256)
    if (notice.kind === 'restore') revoked.delete(notice.sha256)
  }
  return revoked
}
