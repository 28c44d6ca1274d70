import { createModels, type ModelLayers, type Models } from '../core/enrich/models.ts'
import { ObservedCosts } from '../core/enrich/observed-costs.ts'
import type { DeclineReason } from '../core/enrich/plan.ts'
import {
  AgentContexts,
  type CallOwner,
  type DecidedOffer,
  type DecidedWhere,
} from './agent-contexts.ts'
import { FailFast } from './fail-fast.ts'
import type { Habits } from './habits.ts'
import { Polling } from './polling.ts'
import { type FetchEvent, type Fetched, type Prefetch, Speculation } from './speculation.ts'

/** The part of the configuration that is read at each use. */
export interface EnrichmentSettings {
  /** Whether calls are made ahead, and built-in models act. */
  readonly isEnabled: boolean
  readonly layers: ModelLayers
  readonly minProbability: number
  readonly budgetTokens: number
  readonly isCostAware: boolean
  readonly announces: boolean
  readonly announceMs: number
}

/** Receives events for metrics. Must not throw. */
export interface EnrichmentObserver {
  fetch(event: FetchEvent): void
  /** Calls that one result offered, a reason for each. */
  declined(reasons: readonly DeclineReason[], owner: CallOwner): void
  /** An offer was followed within three calls, or not. */
  decided(offer: DecidedOffer, where: DecidedWhere): void
  /** A result whose size was predicted, both in tokens. */
  predicted(predicted: number, actual: number): void
  refused(owner: CallOwner): void
  unchanged(owner: CallOwner): void
}

export interface EnrichmentOptions {
  readonly settings: () => EnrichmentSettings
  readonly maxParallel: number
  readonly respectsRateLimits: boolean
  readonly habits: Habits
  readonly observer: EnrichmentObserver
  /** Milliseconds from any start; never backwards. */
  readonly now: () => number
}

/** Makes one client's calls over its connections. */
export type ClientFetch<T> = (prefetch: Prefetch<T>, signal: AbortSignal) => Promise<Fetched<T>>

/** What all clients of a process share: results that wait, what was learned, and limits. */
export class Enrichment<T> {
  readonly speculation: Speculation<T>
  readonly contexts: AgentContexts
  readonly failFast: FailFast
  readonly polling: Polling
  /** By tenant, server and tool. */
  readonly costs: ObservedCosts = new ObservedCosts()
  readonly habits: Habits
  readonly observer: EnrichmentObserver
  readonly now: () => number
  readonly #settings: () => EnrichmentSettings
  readonly #fetches = new Map<string, ClientFetch<T>>()
  #layers: ModelLayers = {}
  #models = createModels(this.#layers)

  constructor({ settings, habits, observer, now, ...limits }: EnrichmentOptions) {
    this.#settings = settings
    this.habits = habits
    this.observer = observer
    this.now = now
    this.contexts = new AgentContexts(now)
    this.failFast = new FailFast(now)
    this.polling = new Polling(now)
    this.speculation = new Speculation<T>({
      dispatcher: { fetch: (prefetch, signal) => this.#fetch(prefetch, signal) },
      now,
      maxParallel: limits.maxParallel,
      respectRateLimits: limits.respectsRateLimits,
      onEvent: event => observer.fetch(event),
    })
  }

  get settings(): EnrichmentSettings {
    return this.#settings()
  }

  /** In force now; made again when the models of a layer change. */
  get models(): Models {
    const { layers } = this.settings
    if (this.#layers.user !== layers.user || this.#layers.mined !== layers.mined) {
      this.#layers = layers
      this.#models = createModels(layers)
    }
    return this.#models
  }

  /** Whether anything is to be done for a call. */
  get acts(): boolean {
    const { isEnabled, layers } = this.settings
    const { bytes, running } = this.speculation
    return isEnabled || bytes > 0 || running > 0 || Object.keys(layers.user ?? {}).length > 0
  }

  addClient(client: string, fetch: ClientFetch<T>): void {
    this.#fetches.set(client, fetch)
  }

  /** Aborts what is fetched over a client's connections, and writes what was learned. */
  async removeClient(client: string): Promise<void> {
    this.#fetches.delete(client)
    this.speculation.abortClient(client)
    await this.habits.flush()
  }

  /** Something may have changed at a server: its lists, a resource, or it was started again. */
  invalidate(server: string): void {
    this.speculation.invalidateUpstream(server)
    this.polling.invalidateUpstream(server)
    this.contexts.changed(server)
  }

  /** The agent has lost what it read: its context was compacted, or it has gone. */
  forget(context: string): void {
    this.speculation.abortContext(context)
    this.polling.forget(context)
    this.failFast.forget(context)
    this.contexts.forget(context)
  }

  #fetch(prefetch: Prefetch<T>, signal: AbortSignal): Promise<Fetched<T>> {
    const fetch = this.#fetches.get(prefetch.client)
    if (fetch === undefined) return Promise.reject(new Error('the client has gone'))
    return fetch(prefetch, signal)
  }
}
