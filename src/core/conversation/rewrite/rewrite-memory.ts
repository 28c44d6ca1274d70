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

  /** The thread's own entry, unless another thread has replaced it. */
  function takeOwn(key: string): PlacedRewrite | null {
    const placed = own.take(key)
    return placed === null || bodies.isRetracted(placed.position) ? null : placed
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
      const placed = takeOwn(key) ?? read(key)
      if (placed === null) return null
      own.add(key, renewed(key, placed))
      return placed.rewrite
    },
    place(key, bytes, replaces = false) {
      if (replaces) bodies.retract(key, ALL)
      own.take(key)
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
/** Share of the room that is still used after the oldest entries were dropped. */
const KEPT_SHARE = 7 / 8

/** A cache of the most recently used entries, up to so many bytes. */
function createRecent(maxBytes: number) {
  const entries = new Map<string, PlacedRewrite>()
  let bytes = 0
  const sizeOf = ({ rewrite }: PlacedRewrite) => ENTRY_BYTES + (rewrite.literal?.length ?? 0)

  function take(key: string): PlacedRewrite | null {
    const entry = entries.get(key)
    if (entry === undefined) return null
    entries.delete(key)
    bytes -= sizeOf(entry)
    return entry
  }

  function add(key: string, entry: PlacedRewrite): void {
    entries.set(key, entry)
    bytes += sizeOf(entry)
    if (bytes <= maxBytes) return
    // Many entries are dropped at once, because starting an iteration skips all recently removed
    // ones.
    for (const oldest of entries.keys()) {
      if (bytes <= maxBytes * KEPT_SHARE) return
      take(oldest)
    }
  }

  return { take, add }
}
