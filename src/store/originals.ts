import { BoundedMap } from '../core/base/bounded-map.ts'
import { AppError } from '../core/base/errors.ts'
import type { TextBytes } from '../core/base/text-bytes.ts'
import type { PartSelector } from '../core/parts/part.ts'
import type { Dependency } from '../core/sessions/turn/call-memory.ts'
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
import { valueOr } from './values/failure.ts'

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

const MAX_KEYS = 10_000

/** When something was last done for a key; forgets the oldest beyond its size. */
class Recency {
  readonly #last = new BoundedMap<string, number>(MAX_KEYS)

  /** Whether `everyMs` have passed since it was done for the key. */
  isDue(key: string, now: number, everyMs: number): boolean {
    const before = this.#last.get(key)
    // A clock that went back is no reason to wait.
    return before === undefined || now < before || now - before >= everyMs
  }

  /** It was done. */
  done(key: string, now: number): void {
    this.#last.set(key, now)
  }
}

/** A text that was given to a client or a model. */
interface FetchedText {
  readonly tenant: string
  readonly at: number
  /** The first 24 digits of its hash. */
  readonly original: string
  readonly bytes: number
}

export class StoredOriginals implements Originals {
  readonly #store: Pick<Store, 'put' | 'get' | 'part' | 'touch' | 'purgeSession'>
  readonly #lifetimes: (tenant: string) => Lifetimes
  readonly #now: () => number
  readonly #onFetched: (fetched: FetchedText) => void
  readonly #refreshed = new Recency()
  readonly #pinned = new Recency()
  readonly #renewed = new Recency()

  /** @param lifetimes asked each time, because a reload may change them */
  constructor(
    store: Pick<Store, 'put' | 'get' | 'part' | 'touch' | 'purgeSession'>,
    lifetimes: (tenant: string) => Lifetimes,
    now: () => number,
    onFetched: (fetched: FetchedText) => void = () => {},
  ) {
    this.#store = store
    this.#lifetimes = lifetimes
    this.#now = now
    this.#onFetched = onFetched
  }

  async keep(
    tenant: string,
    { bytes, media_type, ...known }: TextToKeep,
    session?: string,
    ref?: string,
  ): Promise<Kept> {
    const { originalMs, sessionMs } = this.#lifetimes(tenant)
    const ttlMs = session === undefined ? originalMs : Math.max(originalMs, sessionMs)
    const lives = { ttlMs, pinUntil: this.#now() + ttlMs }
    const item = { tenant, body: bytes, mediaType: media_type, ...known, ...lives }
    const [kept] = await this.#store.put([
      session === undefined ? item : { ...item, session, ...(ref === undefined ? {} : { ref }) },
    ])
    if (kept === undefined) throw new Error('the store gave no answer to a put')
    const value = valueOr(kept)
    // A marker that names it need not prolong its life at once.
    if (session === undefined) this.#renewed.done(markerKey(tenant, value.hash), this.#now())
    return value
  }

  async pinDependency(tenant: string, { session, ref, identity }: Dependency): Promise<void> {
    const { originalMs, sessionMs } = this.#lifetimes(tenant)
    const ttlMs = Math.max(originalMs, sessionMs)
    const key = `${tenant}:${session}:${identity}`
    const at = this.#now()
    const isDue = this.#pinned.isDue(key, at, Math.min(REFRESH_MS, ttlMs / 4))
    // The body may have been purged since. A lookup is cheaper than a write.
    const found = valueOr(
      isDue
        ? await this.#touchOne({ tenant, session, ref, ttlMs, pinUntil: at + ttlMs })
        : await this.#store.part({ tenant, session, ref }, FIRST_BYTE),
    )
    if (found.hash !== identity) {
      throw new AppError('ambiguous', 'the reference names another body')
    }
    if (isDue) this.#pinned.done(key, at)
  }

  async renew(tenant: string, hashes: readonly string[]): Promise<Stay> {
    const { originalMs } = this.#lifetimes(tenant)
    const at = this.#now()
    const every = Math.min(REFRESH_MS, originalMs / 4)
    const keyOf = (hash: string) => markerKey(tenant, hash)
    const due = hashes.filter(hash => this.#renewed.isDue(keyOf(hash), at, every))
    if (due.length === 0) return 'stay'
    const items = due.map(ref => ({ tenant, ref, ttlMs: originalMs, pinUntil: at + originalMs }))
    const results = await this.#store.touch(items)
    const stays = results.map((result, index): Stay => {
      const key = keyOf(due[index]!)
      if (result.ok) this.#renewed.done(key, at)
      if (result.ok) return 'stay'
      if (GONE.has(result.reason)) return 'gone'
      return this.#renewed.isDue(key, at, originalMs / 2) ? 'unheard' : 'stay'
    })
    return worstOf(stays)
  }

  async forget(tenant: string, session: string): Promise<void> {
    valueOr(await this.#store.purgeSession(tenant, session))
  }

  async fetch(reference: Reference, claim: (bytes: number) => void): Promise<StoredBody> {
    claim(await this.#sizeOf(reference))
    const body = valueOr(await this.#store.get(reference))
    this.#refresh(reference, body.hash, body.bytes)
    return body
  }

  async fetchPart(reference: Reference, selector: PartSelector): Promise<StoredPart> {
    const part = valueOr(await this.#store.part(reference, selector))
    this.#refresh(reference, part.hash, part.bytes)
    return part
  }

  noteFetch(tenant: string, hash: string, bytes: number): void {
    if (hash.length < HASH_DIGITS) return
    const original = hash.slice(0, HASH_DIGITS).toLowerCase()
    this.#onFetched({ tenant, at: this.#now(), original, bytes })
  }

  /**
   * Prolongs the life of bodies that were read, but not at each read, because that would be a write
   * for each read.
   */
  #refresh({ tenant }: Reference, hash: string, bytes: number): void {
    const { originalMs } = this.#lifetimes(tenant)
    const at = this.#now()
    const key = `${tenant}:${hash}`
    const every = Math.min(REFRESH_MS, originalMs / 4)
    if (bytes === 0 || !this.#refreshed.isDue(key, at, every)) return
    this.#refreshed.done(key, at)
    // The caller does not wait for it. If it fails, the earlier promise is still valid.
    void this.#store.touch([{ tenant, ref: hash, ttlMs: originalMs, pinUntil: at + originalMs }])
  }

  async #touchOne(item: TouchItem): Promise<Result<Kept>> {
    const [found] = await this.#store.touch([item])
    if (found === undefined) throw new Error('the store gave no answer to a touch')
    return found
  }

  /** The size of a whole text, from its first byte; an empty one has none. */
  async #sizeOf(reference: Reference): Promise<number> {
    const first = await this.#store.part(reference, FIRST_BYTE)
    const isEmpty = !first.ok && first.errors?.[0]?.path === FIRST_BYTE.kind
    return isEmpty ? 0 : valueOr(first).bytes
  }
}

/** What is true of all of them. */
export function worstOf(stays: readonly Stay[]): Stay {
  return (['gone', 'unheard'] as const).find(each => stays.includes(each)) ?? 'stay'
}

function markerKey(tenant: string, hash: string): string {
  return `${tenant}:${hash.slice(0, HASH_DIGITS)}`
}

/** Reasons for a body that was kept and is not there any more. */
const GONE: ReadonlySet<string> = new Set(['not_found', 'gone', 'ambiguous'])
