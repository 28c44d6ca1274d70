import { BoundedMap } from '../core/base/bounded-map.ts'
import type { DeclineReason } from '../core/enrich/plan.ts'
import { namesOf } from '../core/enrich/tool-names.ts'
import type { FetchEvent, Fetched, Prefetch, PrefetchBatch, ScopedCall, Taken } from './prefetch.ts'

export interface SpeculationOptions {
  /** Milliseconds from any start; never backwards. */
  readonly now: () => number
  /** At once for a context. */
  readonly maxParallel: number
  /** `false`: ignores the limit by host, and a host's request for a pause. */
  readonly respectsRateLimits: boolean
  onEvent(event: FetchEvent): void
}

/** A call that may change something, from before it is dispatched until it has ended. */
interface Mutation {
  readonly upstream: string
  /** `invalidates` of its tool: names of tools, also of other servers. */
  readonly invalidates: readonly string[]
  /** When its effect ends if no answer came. */
  until: number
}

/** A fetch, until its result was served or dropped. */
interface Fetch<T> {
  readonly key: string
  readonly prefetch: Prefetch<T>
  readonly startedAt: number
  readonly expiresAt: number
  /** Aborted if the result must not be served any more. */
  readonly abort: AbortController
  /** When a call of the model joined; from then on it is that call's fetch. */
  joinedAt: number | null
  /** Never rejects. */
  ended: Promise<T | null>
  /** The result that waits for its call, and how long its fetch took. */
  kept: { readonly result: T; readonly bytes: number; readonly fetchMs: number } | null
}

const DEFAULT_TTL_MS = 30_000
/** A call that ended without an answer may still take effect for this long. */
const UNANSWERED_MS = 60_000
/** Fetches at once to a host, and in all. */
const MAX_PER_HOST = 4
const MAX_TOTAL = 64
/** Hosts may ask for any time; no longer than this is believed. */
const LONGEST_PAUSE_MS = 600_000
/** Pauses that are remembered. */
const MAX_PAUSES = 1_000
const MIB = 1_024 * 1_024
/** The size of all kept results together. */
const MAX_BYTES = 64 * MIB
/** The size of one result; larger ones are not kept. */
const MAX_RESULT_BYTES = MIB
/** Results of all tenants together, so that looking through them stays cheap. */
const MAX_KEPT = 4_096
/** What a kept result takes beside itself and its key. */
const OVERHEAD_BYTES = 512

/**
 * Makes calls ahead and answers calls of the model from them. A result is served once, to the same
 * call with the same rights, before it is too old, and never if a call that may change something
 * was dispatched on its server after the fetch began. Results are kept in memory only: what is
 * fetched ahead is not worth a write.
 */
export class Speculation<T> {
  readonly #options: SpeculationOptions
  /** Those that a call can take, by key: on their way, then kept in the order they came. */
  readonly #takeable = new Map<string, Fetch<T>>()
  /** All that are on their way. */
  readonly #running = new Set<Fetch<T>>()
  readonly #mutations = new Set<Mutation>()
  readonly #pausedUntil = new BoundedMap<string, number>(MAX_PAUSES)
  #kept = 0
  #bytes = 0

  constructor(options: SpeculationOptions) {
    this.#options = options
  }

  /** Bytes of kept results. */
  get bytes(): number {
    return this.#bytes
  }

  /** Fetches on their way. */
  get running(): number {
    return this.#running.size
  }

  /** Whether a call's result is kept or on its way. */
  has(call: ScopedCall): boolean {
    const fetch = this.#takeable.get(keyOf(call))
    return fetch !== undefined && (fetch.kept === null || !this.#isStale(fetch))
  }

  /** Starts what the limits allow, in this order. Neither waits nor throws. */
  prefetch(prefetches: readonly Prefetch<T>[]): PrefetchBatch {
    const started: Fetch<T>[] = []
    const declined: PrefetchBatch['declined'][number][] = []
    for (const prefetch of prefetches) {
      const reason = this.#declineReason(prefetch)
      if (reason === null) started.push(this.#start(prefetch))
      else declined.push({ call: prefetch.call, reason })
    }
    const landed: ScopedCall[] = []
    const endings = started.map(async ({ prefetch, ended }) => {
      if ((await ended) !== null) landed.push(prefetch.call)
    })
    return { declined, landed, ended: Promise.all(endings) }
  }

  /** The result for a call that the model makes now; `null` if there is none. */
  take(call: ScopedCall): Taken<T> | null {
    const fetch = this.#takeable.get(keyOf(call))
    if (fetch === undefined) return null
    const { kept } = fetch
    if (this.#isStale(fetch)) {
      if (kept !== null) this.#drop(fetch)
      return null
    }
    this.#remove(fetch)
    if (kept !== null) {
      this.#report('served', fetch, kept.bytes, kept.fetchMs)
      return { kind: 'served', result: kept.result }
    }
    fetch.joinedAt = this.#options.now()
    return { kind: 'joined', result: fetch.ended }
  }

  /**
   * Must be called before a call that may change something is dispatched. Drops all results that
   * the call can make stale, those on their way too, and lets none be fetched until it has ended.
   * @returns to be called when it has ended. `isAnswered` is `false` if it is unknown whether the
   * server still works on it; then its effect is expected for another minute.
   */
  beginMutation(scope: Omit<Mutation, 'until'>): (isAnswered: boolean) => void {
    const mutation: Mutation = { ...scope, until: Number.POSITIVE_INFINITY }
    this.#mutations.add(mutation)
    this.#invalidate(call => affects(mutation, call))
    return isAnswered => {
      if (isAnswered) this.#mutations.delete(mutation)
      else mutation.until = this.#options.now() + UNANSWERED_MS
    }
  }

  /** Drops what is known of a server: its lists changed, or a resource of its. */
  invalidateUpstream(upstream: string): void {
    this.#invalidate(({ scope }) => scope.upstream === upstream)
  }

  /** Ends and drops everything of a context that was compacted or whose client is gone. */
  abortContext(context: string): void {
    this.#dropAll(({ prefetch }) => prefetch.context === context)
  }

  /** The same for all that was fetched over a client's connections. */
  abortClient(client: string): void {
    this.#dropAll(({ prefetch }) => prefetch.call.scope.client === client)
  }

  #declineReason({ call, context, host }: Prefetch<T>): DeclineReason | null {
    if (this.has(call)) return 'cached'
    if (this.#isChanging(call)) return 'parallel_limit'
    const { now, maxParallel, respectsRateLimits } = this.#options
    const running = [...this.#running].map(({ prefetch }) => prefetch)
    const ofContext = running.filter(each => each.context === context).length
    if (running.length >= MAX_TOTAL || ofContext >= maxParallel) return 'parallel_limit'
    if (host === null || !respectsRateLimits) return null
    const toHost = running.filter(each => each.host === host).length
    const isPaused = (this.#pausedUntil.get(host) ?? 0) > now()
    return toHost >= MAX_PER_HOST || isPaused ? 'host_saturated' : null
  }

  /** Whether a call that may change what this one returns has not ended. */
  #isChanging(call: ScopedCall): boolean {
    const now = this.#options.now()
    for (const mutation of this.#mutations) {
      if (mutation.until <= now) this.#mutations.delete(mutation)
      else if (affects(mutation, call)) return true
    }
    return false
  }

  #start(prefetch: Prefetch<T>): Fetch<T> {
    const key = keyOf(prefetch.call)
    const tooOld = this.#takeable.get(key)
    if (tooOld !== undefined) this.#drop(tooOld)
    const startedAt = this.#options.now()
    const fetch: Fetch<T> = {
      key,
      prefetch,
      startedAt,
      abort: new AbortController(),
      joinedAt: null,
      kept: null,
      expiresAt: startedAt + (prefetch.ttlMs ?? DEFAULT_TTL_MS),
      ended: Promise.resolve(null),
    }
    this.#running.add(fetch)
    this.#takeable.set(key, fetch)
    this.#report('dispatched', fetch, 0)
    fetch.ended = this.#fetch(fetch)
    return fetch
  }

  async #fetch(fetch: Fetch<T>): Promise<T | null> {
    const { prefetch, abort } = fetch
    let fetched: Fetched<T> | null = null
    try {
      fetched = await prefetch.fetch(abort.signal)
    } catch {
      // No result, as if it had not been fetched: the model's own call reports what is wrong.
    }
    this.#running.delete(fetch)
    this.#remove(fetch)
    const { retryAfterMs = 0 } = fetched ?? {}
    if (prefetch.host !== null && retryAfterMs > 0) {
      const pauseMs = Math.min(retryAfterMs, LONGEST_PAUSE_MS)
      this.#pausedUntil.set(prefetch.host, this.#options.now() + pauseMs)
    }
    const usable = abort.signal.aborted ? null : (fetched?.result ?? null)
    this.#settle(fetch, usable, fetched?.bytes ?? 0)
    return usable
  }

  /** Decides what becomes of a fetch that has ended. */
  #settle(fetch: Fetch<T>, usable: T | null, bytes: number): void {
    const { prefetch, key, startedAt, joinedAt } = fetch
    if (usable !== null) prefetch.onLanded?.(usable)
    const isKept = bytes <= MAX_RESULT_BYTES && !this.#isStale(fetch) && !this.#takeable.has(key)
    if (usable !== null && joinedAt !== null) {
      this.#report('joined', fetch, bytes, joinedAt - startedAt)
    } else if (usable === null || !isKept) this.#report('wasted', fetch, bytes)
    else {
      fetch.kept = { result: usable, bytes, fetchMs: this.#options.now() - startedAt }
      this.#takeable.set(key, fetch)
      this.#kept++
      this.#bytes += sizeOf(fetch)
      this.#makeRoom()
    }
  }

  /** Those that are too old go first, then those that came first. */
  #makeRoom(): void {
    const kept = [...this.#takeable.values()].filter(each => each.kept !== null)
    for (const fetch of kept) if (this.#isStale(fetch)) this.#drop(fetch)
    for (const fetch of kept) {
      if (this.#bytes <= MAX_BYTES && this.#kept <= MAX_KEPT) return
      if (fetch.kept !== null) this.#drop(fetch)
    }
  }

  #isStale({ expiresAt }: Fetch<T>): boolean {
    return expiresAt <= this.#options.now()
  }

  /** A fetch that a call has joined continues: that call began before the change. */
  #invalidate(matches: (call: ScopedCall) => boolean): void {
    this.#dropAll(({ prefetch, joinedAt }) => joinedAt === null && matches(prefetch.call))
  }

  #dropAll(matches: (fetch: Fetch<T>) => boolean): void {
    for (const fetch of new Set([...this.#takeable.values(), ...this.#running])) {
      if (matches(fetch)) this.#drop(fetch)
    }
  }

  /** A result that is kept is wasted; one that is on its way will be when its fetch has ended. */
  #drop(fetch: Fetch<T>): void {
    const { kept, abort } = fetch
    this.#remove(fetch)
    if (kept === null) abort.abort()
    else this.#report('wasted', fetch, kept.bytes)
  }

  /** No call can take it any more. */
  #remove(fetch: Fetch<T>): void {
    if (this.#takeable.get(fetch.key) === fetch) this.#takeable.delete(fetch.key)
    if (fetch.kept === null) return
    this.#kept--
    this.#bytes -= sizeOf(fetch)
    fetch.kept = null
  }

  #report(kind: FetchEvent['kind'], { prefetch }: Fetch<T>, bytes: number, savedMs = 0): void {
    const { call, facts } = prefetch
    this.#options.onEvent({ kind, call, facts, bytes, savedMs })
  }
}

function keyOf({ scope: { tenant, upstream, client }, tool, args }: ScopedCall): string {
  return JSON.stringify([tenant, upstream, client, tool, args])
}

function sizeOf({ key, kept }: Fetch<unknown>): number {
  return (kept?.bytes ?? 0) + 2 * key.length + OVERHEAD_BYTES
}

/** Whether a call that may change something can change what another call returns. */
function affects({ upstream, invalidates }: Mutation, { scope, tool }: ScopedCall): boolean {
  if (scope.upstream === upstream) return true
  if (invalidates.length === 0) return false
  return namesOf(tool, scope.upstream).some(name => invalidates.includes(name))
}
