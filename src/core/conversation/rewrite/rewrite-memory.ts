import { sessionKey } from '../../sessions/index/session-index.ts'
import { attachBodyMemory } from '../../sessions/lines/body-memory.ts'
import { unsplit } from '../../sessions/lines/scan-text.ts'
import { readStored, type StoredRewrite, writeStored } from './stored-rewrite.ts'

/**
 * Recent rewrites of results, in memory that all threads share, because a request has all of its
 * conversation again. Entries may be forgotten at any time, the oldest first.
 */
export interface RewriteMemory {
  /** The rewrite that was sent under a name, if it is confirmed. */
  get(key: string): StoredRewrite | null
  /**
   * Places bytes, which are found once they are confirmed.
   * @param key 64 hex digits
   * @param bytes from `writeStored`
   * @param replaces whether they replace others of that name, which are not found from now on
   * @returns the position to confirm, or `null` if there is no room for that many
   */
  place(key: string, bytes: Uint8Array, replaces?: boolean): number | null
  /** Notes that the bytes were sent. */
  confirm(position: number): void
}

/** The names are digests over a tenant's name already. */
const ALL = sessionKey('', 'rewrites')

/**
 * @param memory made by `createBodyMemory`
 * @param options.ownBytes approximate size of the entries that this thread keeps for itself
 */
export function attachRewriteMemory(
  memory: ArrayBufferLike,
  { ownBytes = 0 }: { readonly ownBytes?: number } = {},
): RewriteMemory {
  const bodies = attachBodyMemory(memory)
  const own = createRecent(ownBytes)
  const confirm = (position: number) => bodies.confirm(position)
  const place = (key: string, bytes: Uint8Array) => bodies.place(unsplit(bytes), ALL, key, '')

  function read(key: string): PlacedRewrite | null {
    const found = bodies.readBytes(key, ALL)
    const rewrite = found === null ? null : readStored(found.bytes)
    return rewrite === null ? null : { rewrite, position: found!.position }
  }

  /** An entry that is still used is placed again before it is overwritten. */
  function renewed(key: string, placed: PlacedRewrite): PlacedRewrite {
    if (!bodies.isAging(placed.position)) return placed
    const position = place(key, writeStored(placed.rewrite))
    if (position === null) return placed
    confirm(position)
    return { ...placed, position }
  }

  return {
    get(key) {
      const kept = own.get(key)
      // Another thread may have replaced it.
      const isInForce = kept !== undefined && !bodies.isRetracted(kept.position)
      const placed = isInForce ? kept : read(key)
      if (placed === null) {
        own.remove(key)
        return null
      }
      const now = renewed(key, placed)
      if (now !== kept) own.put(key, now)
      return placed.rewrite
    },
    place(key, bytes, replaces = false) {
      if (replaces) bodies.retract(key, ALL)
      own.remove(key)
      return place(key, bytes)
    },
    confirm,
  }
}

interface PlacedRewrite {
  readonly rewrite: StoredRewrite
  readonly position: number
}

/** Approximate bytes of an entry besides its literal. */
const ENTRY_BYTES = 512
/** Share of the room that is used after the oldest entries were dropped and the new one is in. */
const KEPT_SHARE = 7 / 8

/** An entry, and whether it was used since it was last passed over. */
interface RecentEntry {
  readonly placed: PlacedRewrite
  isUsed: boolean
}

/**
 * A cache up to so many bytes. Of the oldest entries those go that were not used since the last
 * time ("second chance"): a turn uses all of its conversation's, so they are not moved each time.
 */
function createRecent(maxBytes: number) {
  const entries = new Map<string, RecentEntry>()
  let bytes = 0
  const sizeOf = ({ rewrite }: PlacedRewrite) => ENTRY_BYTES + (rewrite.literal?.length ?? 0)

  function get(key: string): PlacedRewrite | undefined {
    const entry = entries.get(key)
    if (entry === undefined) return undefined
    entry.isUsed = true
    return entry.placed
  }

  function remove(key: string): void {
    const entry = entries.get(key)
    if (entry === undefined) return
    entries.delete(key)
    bytes -= sizeOf(entry.placed)
  }

  function put(key: string, placed: PlacedRewrite): void {
    remove(key)
    const size = sizeOf(placed)
    if (size > maxBytes) return
    if (bytes + size > maxBytes) dropOldest(maxBytes * KEPT_SHARE - size)
    entries.set(key, { placed, isUsed: false })
    bytes += size
  }

  /**
   * Drops many entries at once, because starting an iteration skips all recently removed ones. Ends
   * in the second round, if all were used.
   */
  function dropOldest(most: number): void {
    for (const [key, entry] of entries) {
      if (bytes <= most) return
      if (entry.isUsed) {
        entries.delete(key)
        entries.set(key, { placed: entry.placed, isUsed: false })
      } else remove(key)
    }
  }

  return { get, put, remove }
}
