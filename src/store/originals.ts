import { BoundedMap } from '../core/base/bounded-map.ts'
import { AppError } from '../core/base/errors.ts'
import type { TextBytes } from '../core/base/text-bytes.ts'
import type { PartSelector } from '../core/parts/part.ts'
import type { Dependency } from '../core/sessions/turn/call-memory.ts'
import { valueOr } from './failure.ts'
import type {
  Kept,
  PutItem,
  Reference,
  Result,
  Store,
  StoredBody,
  StoredPart,
  TouchItem,
} from './store.ts'

/** How long a tenant's bodies are kept, in milliseconds. */
export interface Lifetimes {
  /** The life of inputs, and of originals that a marker names. */
  readonly originalMs: number
  /** The life of bodies that a session refers to: at least as long as the session lives. */
  readonly sessionMs: number
}

/** Whether originals stay: they do, some are gone, or the store was not heard. */
export type Stay = 'stay' | 'gone' | 'unheard'

/** A text, and what its thread knows of it already. */
type TextToKeep = TextBytes & Pick<PutItem, 'hash' | 'compressed'>

/** Texts that can be fetched back: what the rest of the service sees of the store. */
export interface Originals {
  /**
   * Keeps a text; resolves once it is durable. Until `expires_at` nothing but a purge removes it.
   * @param session whose references it may be resolved by
   * @throws AppError `overloaded` if there is no room, `payload_too_large`, `internal`
   */
  keep(tenant: string, text: TextToKeep, session?: string, ref?: string): Promise<Kept>
  /**
   * Checks that a reference means that very body now, and prolongs its life.
   * @throws AppError as `fetch`
   */
  pinDependency(tenant: string, dependency: Dependency): Promise<void>
  /**
   * Prolongs the life of originals whose markers were sent before. It may take a minute until a
   * purge is noticed. Never rejects. @param hashes 24 hex digits each @returns whether all of them
   * stay for a while. They do also if the store does not answer but promised it lately
   */
  renew(tenant: string, hashes: readonly string[]): Promise<Stay>
  /** Removes what only the session keeps. */
  forget(tenant: string, session: string): Promise<void>
  /**
   * A whole text, or a part of it; either makes it live as long again as when it was kept.
   * @param claim gets the bytes of the whole text before it is fetched; what it throws is thrown
   * @throws AppError `not_found`, `gone`, `ambiguous`, `invalid_request`, `overloaded`
   */
  fetch(reference: Reference, claim: (bytes: number) => void): Promise<StoredBody>
  fetchPart(reference: Reference, selector: PartSelector): Promise<StoredPart>
  /**
   * Tells that a client or a model was given a text, or parts of it, by one call.
   * @param hash of the text; a shorter id than 24 digits names a result of a session, and is passed
   * over
   */
  noteFetch(tenant: string, hash: string, bytes: number): void
}

/** What a reader of originals needs. */
export type ReadableOriginals = Pick<Originals, 'fetch' | 'fetchPart' | 'noteFetch'>

/** Digits of a hash by which markers name a text. */
const HASH_DIGITS = 24

const FIRST_BYTE = { kind: 'bytes', range: { first: 0, last: 0 } } as const

/** The life of an original is prolonged at most this often, in milliseconds. */
const REFRESH_MS = 60_000

/** @param lifetimes asked each time, because a reload may change them */
export function createOriginals(
  store: Pick<Store, 'put' | 'get' | 'part' | 'touch' | 'purgeSession'>,
  lifetimes: (tenant: string) => Lifetimes,
  now: () => number,
  onFetched: (fetched: {
    readonly tenant: string
    readonly at: number
    /** The first 24 digits of its hash. */
    readonly original: string
    readonly bytes: number
  }) => void = () => {},
): Originals {
  const refreshed = createRecency()
  const pinned = createRecency()
  const renewed = createRecency()

  /**
   * Prolongs the life of bodies that were read, but not at each read, because that would be a write
   * for each read.
   */
  function refresh({ tenant }: Reference, hash: string, bytes: number): void {
    const { originalMs } = lifetimes(tenant)
    const every = Math.min(REFRESH_MS, originalMs / 4)
    const key = `${tenant}:${hash}`
    if (bytes === 0 || !refreshed.isDue(key, now(), every)) return
    refreshed.done(key, now())
    const item = { tenant, ref: hash, ttlMs: originalMs, pinUntil: now() + originalMs }
    // The caller does not wait for it. If it fails, the earlier promise is still valid.
    void store.touch([item])
  }

  async function touchOne(item: TouchItem): Promise<Result<Kept>> {
    const [found] = await store.touch([item])
    if (found === undefined) throw new Error('the store gave no answer to a touch')
    return found
  }

  /** The size of a whole text, from its first byte; an empty one has none. */
  async function sizeOf(reference: Reference): Promise<number> {
    const first = await store.part(reference, FIRST_BYTE)
    const isEmpty = !first.ok && first.errors?.[0]?.path === FIRST_BYTE.kind
    return isEmpty ? 0 : valueOr(first).bytes
  }

  return {
    async keep(tenant, { bytes, media_type, ...known }, session, ref) {
      const { originalMs, sessionMs } = lifetimes(tenant)
      const ttlMs = session === undefined ? originalMs : Math.max(originalMs, sessionMs)
      const lives = { ttlMs, pinUntil: now() + ttlMs }
      const item = { tenant, body: bytes, mediaType: media_type, ...known, ...lives }
      const [kept] = await store.put([
        session === undefined ? item : { ...item, session, ...(ref === undefined ? {} : { ref }) },
      ])
      if (kept === undefined) throw new Error('the store gave no answer to a put')
      const value = valueOr(kept)
      // A marker that names it need not prolong its life at once.
      if (session === undefined) renewed.done(markerKey(tenant, value.hash), now())
      return value
    },
    async pinDependency(tenant, { session, ref, identity }) {
      const { originalMs, sessionMs } = lifetimes(tenant)
      const ttlMs = Math.max(originalMs, sessionMs)
      const every = Math.min(REFRESH_MS, ttlMs / 4)
      const key = `${tenant}:${session}:${identity}`
      const at = now()
      const isDue = pinned.isDue(key, at, every)
      // The body may have been purged since. A lookup is cheaper than a write.
      const found = valueOr(
        isDue
          ? await touchOne({ tenant, session, ref, ttlMs, pinUntil: at + ttlMs })
          : await store.part({ tenant, session, ref }, FIRST_BYTE),
      )
      if (found.hash === identity) {
        if (isDue) pinned.done(key, at)
        return
      }
      throw new AppError('ambiguous', 'the reference names another body')
    },
    async renew(tenant, hashes) {
      const { originalMs } = lifetimes(tenant)
      const at = now()
      const every = Math.min(REFRESH_MS, originalMs / 4)
      const keyOf = (hash: string) => markerKey(tenant, hash)
      const due = hashes.filter(hash => renewed.isDue(keyOf(hash), at, every))
      if (due.length === 0) return 'stay'
      const items = due.map(ref => ({ tenant, ref, ttlMs: originalMs, pinUntil: at + originalMs }))
      const results = await store.touch(items)
      const stays = results.map((result, index): Stay => {
        const key = keyOf(due[index]!)
        if (result.ok) renewed.done(key, at)
        if (result.ok) return 'stay'
        if (GONE.has(result.reason)) return 'gone'
        return renewed.isDue(key, at, originalMs / 2) ? 'unheard' : 'stay'
      })
      return worstOf(stays)
    },
    async forget(tenant, session) {
      valueOr(await store.purgeSession(tenant, session))
    },
    async fetch(reference, claim) {
      claim(await sizeOf(reference))
      const body = valueOr(await store.get(reference))
      refresh(reference, body.hash, body.bytes)
      return body
    },
    noteFetch(tenant, hash, bytes) {
      if (hash.length < HASH_DIGITS) return
      onFetched({ tenant, at: now(), original: hash.slice(0, HASH_DIGITS).toLowerCase(), bytes })
    },
    async fetchPart(reference, selector) {
      const part = valueOr(await store.part(reference, selector))
      refresh(reference, part.hash, part.bytes)
      return part
    },
  }
}

/** What is true of all of them. */
export function worstOf(stays: readonly Stay[]): Stay {
  return (['gone', 'unheard'] as const).find(each => stays.includes(each)) ?? 'stay'
}

/** Digits of a hash that markers have. */
const MARKER_DIGITS = 24

function markerKey(tenant: string, hash: string): string {
  return `${tenant}:${hash.slice(0, MARKER_DIGITS)}`
}

/** Reasons for a body that was kept and is not there any more. */
const GONE: ReadonlySet<string> = new Set(['not_found', 'gone', 'ambiguous'])

/** When something was last done for a key; forgets the oldest beyond its size. */
interface Recency {
  /** Whether `everyMs` have passed since it was done for the key. */
  isDue(key: string, now: number, everyMs: number): boolean
  /** It was done. */
  done(key: string, now: number): void
}

const MAX_KEYS = 10_000

function createRecency(): Recency {
  const last = new BoundedMap<string, number>(MAX_KEYS)
  return {
    isDue(key, now, everyMs) {
      const before = last.get(key)
      // A clock that went back is no reason to wait.
      return before === undefined || now < before || now - before >= everyMs
    },
    done(key, now) {
      last.set(key, now)
    },
  }
}
