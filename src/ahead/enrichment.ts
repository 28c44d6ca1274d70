import { createModels, type ModelLayers, type Models } from '../core/enrich/models.ts'
import { ObservedCosts } from '../core/enrich/observed-costs.ts'
import type { DeclineReason, PlanningTerms } from '../core/enrich/plan.ts'
import { AgentContexts, type DecidedOffer } from './agent-contexts.ts'
import type { Habits } from './habits.ts'
import { Polling } from './polling.ts'
import type { FetchEvent } from './prefetch.ts'
import { Speculation, type SpeculationOptions } from './speculation.ts'

/** The part of the configuration that is read at each use. */
export interface EnrichmentSettings extends PlanningTerms {
  /** Whether calls are made ahead, and built-in models act. */
  readonly isEnabled: boolean
  /** The longest that a result waits for them, to name them; 0: it does not. */
  readonly announceMs: number
}

/** What happened to calls, for metrics and telemetry. */
export type EnrichmentEvent =
  | FetchEvent
  /** Calls that one result offered, a reason for each. */
  | (CallOwner & { readonly kind: 'declined'; readonly reasons: readonly DeclineReason[] })
  /** An offer was followed within three calls, or not. */
  | (CallOwner & DecidedEvent)
  /** A result whose size was predicted, both in tokens. */
  | { readonly kind: 'predicted'; readonly predicted: number; readonly actual: number }
  | (CallOwner & { readonly kind: 'refused' | 'unchanged' })

export interface DecidedEvent {
  readonly kind: 'decided'
  readonly offer: DecidedOffer
  /** Whether its result was there, or on its way, when it was decided. */
  readonly isKept: boolean
}

/** Whose call it was. */
export interface CallOwner {
  readonly tenant: string
  /** `null` if nothing names it. */
  readonly session: string | null
}

/** Must not throw. */
export type EnrichmentObserver = (event: EnrichmentEvent) => void

export interface EnrichmentOptions extends Omit<SpeculationOptions, 'onEvent'> {
  readonly settings: () => EnrichmentSettings
  readonly habits: Habits
  readonly observer: EnrichmentObserver
}

/** What all clients of a process share: results that wait, what was learned, and limits. */
export class Enrichment<T> {
  readonly speculation: Speculation<T>
  readonly contexts: AgentContexts
  readonly polling: Polling
  /** By tenant, server and tool. */
  readonly costs: ObservedCosts = new ObservedCosts()
  readonly habits: Habits
  readonly observer: EnrichmentObserver
  readonly #settings: () => EnrichmentSettings
  #layers: ModelLayers = {}
  #models = createModels(this.#layers)

  constructor({ settings, habits, observer, ...options }: EnrichmentOptions) {
    this.#settings = settings
    this.habits = habits
    this.observer = observer
    this.contexts = new AgentContexts(options.now)
    this.polling = new Polling(options.now)
    this.speculation = new Speculation<T>({ ...options, onEvent: observer })
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

  /** Aborts what is fetched over a client's connections, and writes what was learned. */
  async removeClient(client: string): Promise<void> {
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
    this.contexts.forget(context)
  }
}
