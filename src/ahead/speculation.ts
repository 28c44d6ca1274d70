import { namesOf } from '../core/enrich/tool-names.ts'
import {
  type FetchFacts,
  type KeptResult,
  ResultCache,
  type ScopedCall,
  scopedKey,
} from './result-cache.ts'
import { Slots } from './slots.ts'

/*
 * How a gateway uses this folder, for each call of a model:
 *
 * 1. `FailFast.check` and `Polling.answer` may answer it without a call.
 * 2. `Speculation.take` may have its result, or a fetch to join. If the joined fetch fails, go on.
 * 3. If it may change something (`mayMutate`): `Speculation.beginMutation` and
 *    `Polling.invalidateUpstream`, then dispatch it. What `beginMutation` returned is called when
 *    the call has ended, however it ended. A change of a server's lists is `invalidateUpstream`.
 * 4. After the result: `FailFast.observe`, `Polling.observe`, `ObservedCosts.observe`. In a worker
 *    `readTrigger` and `projectCalls` for the links of its tool.
 * 5. `planCalls` with what they offer, then `Speculation.prefetch` with the calls whose arguments
 *    are known. One with `requires` follows after that call's own result: `projectCalls`, then
 *    `screenArguments`.
 * 6. Whether an offer was followed within three calls: `Probabilities.observe`, for planned and
 *    declined ones alike.
 *
 * `abortContext`, `abortClient` and `close` end what is on its way.
 */

/** What makes the calls: the only thing here that reaches a server. */
export interface Dispatcher<T> {
  /** Settles soon after `signal` is aborted. May throw or reject: that counts as no result. */
  fetch(prefetch: Prefetch<T>, signal: AbortSignal): Promise<Fetched<T>>
}

export interface Fetched<T> {
  readonly result: T
  readonly bytes: number
  /** `false` for errors and for results that ask for input. */
  readonly isUsable: boolean
  /** How long the host asked for no more calls, if it did. */
  readonly retryAfterMs?: number
}

/** One call to make ahead. It must be eligible: the engine does not check that. */
export interface Prefetch<T = unknown> {
  readonly call: ScopedCall
  /** Whose result offered it: the agent's context. */
  readonly context: string
  /** Over whose connections it is made: see `abortClient`. */
  readonly client: string
  /** Where it goes, for the limit by host; `null` without one. */
  readonly host: string | null
  /** `freshness_ttl_s` of the tool; 30 s if absent. */
  readonly ttlMs?: number
  readonly facts?: FetchFacts
  /** Called when a result can be served, before it is served. Must not throw. */
  onLanded?(result: T): void
}

/** What became of a fetch. Each one that is started ends as one of the last three. */
export interface FetchEvent {
  readonly kind: 'dispatched' | 'served' | 'joined' | 'wasted'
  readonly call: ScopedCall
  readonly facts?: FetchFacts | undefined
  readonly bytes: number
  /** Time that the call did not have to wait. */
  readonly savedMs: number
}

export interface SpeculationOptions<T> {
  readonly dispatcher: Dispatcher<T>
  /** Milliseconds from any start; never backwards. */
  readonly now: () => number
  /** At once for a context (3), for a host (4) and in all (64). */
  readonly maxParallel?: number
  readonly maxPerHost?: number
  readonly maxTotal?: number
  /** `false`: ignores the limit by host, and a host's request for a pause. */
  readonly respectRateLimits?: boolean
  readonly maxBytes?: number
  readonly onEvent?: (event: FetchEvent) => void
}

/** What was started of a list of calls, and why the others were not. */
export interface PrefetchBatch {
  readonly started: readonly ScopedCall[]
  readonly declined: readonly {
    readonly call: ScopedCall
    readonly reason: 'cached' | 'host_saturated' | 'parallel_limit'
  }[]
  /** Those whose result is there; grows until `ended`. */
  readonly landed: readonly ScopedCall[]
  /** Resolves when all have ended; never rejects. */
  readonly ended: Promise<unknown>
}

/** A result for a call of the model: kept, or on its way. */
export type Taken<T> =
  | { readonly kind: 'served'; readonly result: T }
  /** `null` if the fetch failed: the call must be made as if nothing had been fetched. */
  | { readonly kind: 'joined'; readonly result: Promise<T | null> }

/** A call that may change something, from before it is dispatched until it has ended. */
export interface MutationScope {
  readonly upstream: string
  /** `invalidates` of its tool: names of tools, also of other servers. */
  readonly invalidates: readonly string[]
}

interface Mutation extends MutationScope {
  /** When its effect ends if no answer came. */
  until: number
}

interface Flight<T> {
  readonly prefetch: Prefetch<T>
  readonly startedAt: number
  readonly expiresAt: number
  /** Aborted if the result must not be served any more. */
  readonly abort: AbortController
  /** When a call of the model joined; from then on it is that call's fetch. */
  joinedAt: number | null
  /** Never rejects. */
  ended: Promise<Fetched<T> | null>
}

const DEFAULT_TTL_MS = 30_000
/** A call that ended without an answer may still take effect for this long. */
const UNANSWERED_MS = 60_000

/**
 * Makes calls ahead and answers calls of the model from them. A result is served once, to the same
 * call with the same rights, before it is too old, and never if a call that may change something
 * was dispatched on its server after the fetch began.
 */
export class Speculation<T> {
  readonly #options: SpeculationOptions<T>
  readonly #cache: ResultCache<T>
  readonly #slots: Slots
  /** Fetches on their way that a call can join, by key. */
  readonly #joinable = new Map<string, Flight<T>>()
  /** All fetches on their way. */
  readonly #flights = new Set<Flight<T>>()
  readonly #mutations = new Set<Mutation>()
  #isClosed = false

  constructor(options: SpeculationOptions<T>) {
    this.#options = options
    const { now, maxBytes } = options
    this.#cache = new ResultCache({
      now,
      ...(maxBytes === undefined ? {} : { maxBytes }),
      onDrop: kept => this.#report('wasted', kept, kept.bytes),
    })
    this.#slots = new Slots(options)
  }

  /** Bytes of kept results. */
  get bytes(): number {
    return this.#cache.bytes
  }

  /** Fetches on their way. */
  get running(): number {
    return this.#flights.size
  }

  /** Whether a call's result is kept or on its way. */
  has(call: ScopedCall): boolean {
    const key = scopedKey(call)
    return this.#cache.has(key) || this.#joinable.has(key)
  }

  /** Starts what the limits allow, in this order. Neither waits nor throws. */
  prefetch(prefetches: readonly Prefetch<T>[]): PrefetchBatch {
    const started: Flight<T>[] = []
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
    const calls = started.map(({ prefetch }) => prefetch.call)
    return { started: calls, declined, landed, ended: Promise.all(endings) }
  }

  /** The result for a call that the model makes now; `null` if there is none. */
  take(call: ScopedCall): Taken<T> | null {
    const key = scopedKey(call)
    const kept = this.#cache.take(key)
    if (kept !== undefined) {
      this.#report('served', kept, kept.bytes, kept.fetchMs)
      return { kind: 'served', result: kept.result }
    }
    const flight = this.#joinable.get(key)
    const now = this.#options.now()
    if (flight === undefined || flight.expiresAt <= now) return null
    this.#joinable.delete(key)
    flight.joinedAt = now
    const result = flight.ended.then(fetched => fetched?.result ?? null)
    return { kind: 'joined', result }
  }

  /**
   * Must be called before a call that may change something is dispatched. Drops all results that
   * the call can make stale, those on their way too, and lets none be fetched until it has ended.
   * @returns to be called when it has ended. `isAnswered` is `false` if it is unknown whether the
   * server still works on it; then its effect is expected for another minute.
   */
  beginMutation(scope: MutationScope): (isAnswered: boolean) => void {
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
    this.#abort(({ prefetch }) => prefetch.context === context)
    this.#cache.drop(kept => kept.context === context, 'aborted')
  }

  /** The same for all that was fetched over a client's connections. */
  abortClient(client: string): void {
    this.#abort(({ prefetch }) => prefetch.client === client)
    this.#cache.drop(kept => kept.client === client, 'aborted')
  }

  /** Aborts all fetches and resolves when they have ended. Starts none after that. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#abort(() => true)
    this.#cache.drop(() => true, 'aborted')
    await Promise.all([...this.#flights].map(({ ended }) => ended))
  }

  #declineReason({ call, context, host }: Prefetch<T>) {
    if (this.has(call)) return 'cached'
    if (this.#isClosed || this.#isChanging(call)) return 'parallel_limit'
    return this.#slots.declineReason(context, host)
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

  #start(prefetch: Prefetch<T>): Flight<T> {
    const startedAt = this.#options.now()
    const abort = new AbortController()
    const flight: Flight<T> = {
      prefetch,
      startedAt,
      abort,
      joinedAt: null,
      expiresAt: startedAt + (prefetch.ttlMs ?? DEFAULT_TTL_MS),
      ended: Promise.resolve(null),
    }
    this.#flights.add(flight)
    this.#joinable.set(scopedKey(prefetch.call), flight)
    this.#slots.claim(prefetch.context, prefetch.host)
    this.#report('dispatched', prefetch, 0)
    flight.ended = this.#fetch(flight)
    return flight
  }

  async #fetch(flight: Flight<T>): Promise<Fetched<T> | null> {
    const { prefetch, abort } = flight
    let fetched: Fetched<T> | null = null
    try {
      fetched = await this.#options.dispatcher.fetch(prefetch, abort.signal)
    } catch {
      // No result, as if it had not been fetched: the model's own call reports what is wrong.
    }
    this.#flights.delete(flight)
    const key = scopedKey(prefetch.call)
    if (this.#joinable.get(key) === flight) this.#joinable.delete(key)
    this.#slots.release(prefetch.context, prefetch.host, fetched?.retryAfterMs)
    const usable = fetched?.isUsable === true && !abort.signal.aborted ? fetched : null
    this.#settle(flight, key, usable, fetched?.bytes ?? 0)
    return usable
  }

  /** Decides what becomes of a fetch that has ended. */
  #settle(flight: Flight<T>, key: string, usable: Fetched<T> | null, bytes: number): void {
    const { prefetch, startedAt, expiresAt, joinedAt } = flight
    const { call, context, client, facts } = prefetch
    if (usable !== null) prefetch.onLanded?.(usable.result)
    if (usable === null) this.#report('wasted', prefetch, bytes)
    else if (joinedAt !== null) this.#report('joined', prefetch, bytes, joinedAt - startedAt)
    else {
      const fetchMs = this.#options.now() - startedAt
      const kept: KeptResult<T> = {
        call,
        facts,
        context,
        client,
        result: usable.result,
        bytes,
        fetchMs,
        expiresAt,
      }
      if (!this.#cache.put(key, kept)) this.#report('wasted', prefetch, bytes)
    }
  }

  /** A fetch that a call has joined continues: that call began before the change. */
  #invalidate(matches: (call: ScopedCall) => boolean): void {
    this.#cache.drop(({ call }) => matches(call), 'invalidated')
    this.#abort(({ prefetch, joinedAt }) => joinedAt === null && matches(prefetch.call))
  }

  #abort(matches: (flight: Flight<T>) => boolean): void {
    for (const flight of this.#flights) {
      if (!matches(flight)) continue
      const key = scopedKey(flight.prefetch.call)
      if (this.#joinable.get(key) === flight) this.#joinable.delete(key)
      flight.abort.abort()
    }
  }

  #report(
    kind: FetchEvent['kind'],
    { call, facts }: Pick<FetchEvent, 'call' | 'facts'>,
    bytes: number,
    savedMs = 0,
  ): void {
    this.#options.onEvent?.({ kind, call, facts, bytes, savedMs })
  }
}

/** Whether a call that may change something can change what another call returns. */
function affects({ upstream, invalidates }: MutationScope, { scope, tool }: ScopedCall): boolean {
  if (scope.upstream === upstream) return true
  if (invalidates.length === 0) return false
  return namesOf(tool, scope.upstream).some(name => invalidates.includes(name))
}
