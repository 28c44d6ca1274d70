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

/**
 * Results that were fetched ahead. Each is served at most once, and none after it is stale. In
 * memory only: what is fetched ahead is not worth a write.
 */
export class ResultCache<T> {
  readonly #options: CacheOptions<T>
  /** In the order in which they came. */
  readonly #entries = new Map<string, KeptResult<T>>()
  #bytes = 0

  constructor(options: CacheOptions<T>) {
    this.#options = options
  }

  get bytes(): number {
    return this.#bytes
  }

  has(key: string): boolean {
    const kept = this.#entries.get(key)
    return kept !== undefined && kept.expiresAt > this.#options.now()
  }

  /** `false` if the result is too large to be kept. */
  put(key: string, kept: KeptResult<T>): boolean {
    if (kept.bytes > MAX_RESULT_BYTES || kept.expiresAt <= this.#options.now()) return false
    const before = this.#entries.get(key)
    if (before !== undefined) this.#dropOne(key, before, 'replaced')
    this.#entries.set(key, kept)
    this.#bytes += sizeOf(key, kept)
    this.#makeRoom()
    return true
  }

  /** Takes the result out; `undefined` if there is none, or it is too old. */
  take(key: string): KeptResult<T> | undefined {
    const kept = this.#entries.get(key)
    if (kept === undefined) return undefined
    const isStale = kept.expiresAt <= this.#options.now()
    if (isStale) this.#dropOne(key, kept, 'expired')
    else this.#remove(key, kept)
    return isStale ? undefined : kept
  }

  drop(matches: (kept: KeptResult<T>) => boolean, reason: DropReason): void {
    for (const [key, kept] of this.#entries) if (matches(kept)) this.#dropOne(key, kept, reason)
  }

  #remove(key: string, kept: KeptResult<T>): void {
    this.#entries.delete(key)
    this.#bytes -= sizeOf(key, kept)
  }

  #dropOne(key: string, kept: KeptResult<T>, reason: DropReason): void {
    this.#remove(key, kept)
    this.#options.onDrop(kept, reason)
  }

  #makeRoom(): void {
    const { now, maxBytes = MAX_BYTES } = this.#options
    const time = now()
    this.drop(({ expiresAt }) => expiresAt <= time, 'expired')
    for (const [key, kept] of this.#entries) {
      if (this.#bytes <= maxBytes && this.#entries.size <= MAX_ENTRIES) return
      this.#dropOne(key, kept, 'evicted')
    }
  }
}

function sizeOf(key: string, { bytes }: KeptResult<unknown>): number {
  return bytes + 2 * key.length + OVERHEAD_BYTES
}
