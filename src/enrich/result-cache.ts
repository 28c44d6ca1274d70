/** What a call depends on, beside its tool and arguments. Two that differ share no result. */
export interface CallScope {
  readonly tenant: string
  /** The server, as the gateway tells servers apart. */
  readonly upstream: string
  /** Identifies the rights that the call has there; not the secret itself. */
  readonly credential: string
  /** The client's connection, if the server keeps one for each; else `null`. */
  readonly connection: string | null
}

/** A call that can be answered from a result that was fetched ahead. */
export interface ScopedCall {
  readonly scope: CallScope
  /** The tool's own name at its server. */
  readonly tool: string
  /** `canonicalArguments` of the call. */
  readonly args: string
}

export function scopedKey({ scope, tool, args }: ScopedCall): string {
  const { tenant, upstream, credential, connection } = scope
  return JSON.stringify([tenant, upstream, credential, connection, tool, args])
}

/** What is reported of a fetch beside its call. */
export interface FetchFacts {
  /** `callKey`. */
  readonly key: string
  /** The agent's session; `null` if nothing names it. */
  readonly session: string | null
  /** In tokens. */
  readonly predicted: number
  /** Tokens of the result, once it is there. */
  actual: number | null
}

/** A result that waits for its call. */
export interface KeptResult<T> {
  readonly call: ScopedCall
  readonly facts?: FetchFacts | undefined
  readonly context: string
  readonly client: string
  readonly result: T
  readonly bytes: number
  /** How long the fetch took. */
  readonly fetchMs: number
  readonly expiresAt: number
}

/** Why a kept result left without being served. */
export type DropReason = 'expired' | 'evicted' | 'invalidated' | 'aborted' | 'replaced'

/** Results that were fetched ahead. Each is served at most once, and none after it is stale. */
export interface ResultCache<T> {
  readonly bytes: number
  has(key: string): boolean
  /** `false` if the result is too large to be kept. */
  put(key: string, kept: KeptResult<T>): boolean
  /** Takes the result out; `undefined` if there is none, or it is too old. */
  take(key: string): KeptResult<T> | undefined
  drop(matches: (kept: KeptResult<T>) => boolean, reason: DropReason): void
}

export interface CacheOptions<T> {
  /** Milliseconds from any start; never backwards. */
  readonly now: () => number
  readonly maxBytes?: number
  readonly onDrop: (kept: KeptResult<T>, reason: DropReason) => void
}

const MIB = 1_024 * 1_024
/** The size of all results together. */
const MAX_BYTES = 64 * MIB
/** The size of one result; larger ones are not kept. */
const MAX_RESULT_BYTES = MIB
/** Entries of all tenants together, so that looking through them stays cheap. */
const MAX_ENTRIES = 4_096
/** What an entry takes beside its result and its key. */
const OVERHEAD_BYTES = 512

/** In memory only: what is fetched ahead is not worth a write. */
export function createResultCache<T>({
  now,
  maxBytes = MAX_BYTES,
  onDrop,
}: CacheOptions<T>): ResultCache<T> {
  /** In the order in which they came. */
  const entries = new Map<string, KeptResult<T>>()
  let total = 0

  function remove(key: string, kept: KeptResult<T>): void {
    entries.delete(key)
    total -= sizeOf(key, kept)
  }

  function dropOne(key: string, kept: KeptResult<T>, reason: DropReason): void {
    remove(key, kept)
    onDrop(kept, reason)
  }

  function makeRoom(): void {
    const time = now()
    for (const [key, kept] of entries) {
      if (kept.expiresAt <= time) dropOne(key, kept, 'expired')
    }
    for (const [key, kept] of entries) {
      if (total <= maxBytes && entries.size <= MAX_ENTRIES) return
      dropOne(key, kept, 'evicted')
    }
  }

  return {
    get bytes() {
      return total
    },
    has(key) {
      const kept = entries.get(key)
      return kept !== undefined && kept.expiresAt > now()
    },
    put(key, kept) {
      if (kept.bytes > MAX_RESULT_BYTES || kept.expiresAt <= now()) return false
      const before = entries.get(key)
      if (before !== undefined) dropOne(key, before, 'replaced')
      entries.set(key, kept)
      total += sizeOf(key, kept)
      makeRoom()
      return true
    },
    take(key) {
      const kept = entries.get(key)
      if (kept === undefined) return undefined
      if (kept.expiresAt <= now()) {
        dropOne(key, kept, 'expired')
        return undefined
      }
      remove(key, kept)
      return kept
    },
    drop(matches, reason) {
      for (const [key, kept] of entries) if (matches(kept)) dropOne(key, kept, reason)
    },
  }
}

function sizeOf(key: string, { bytes }: KeptResult<unknown>): number {
  return bytes + 2 * key.length + OVERHEAD_BYTES
}
