import { BoundedMap } from '../core/base/bounded-map.ts'
import type { DeclineReason } from '../core/enrich/plan.ts'
import type { Offer } from '../core/enrich/probability.ts'

/** A call that was offered to an agent, until it is known whether the agent makes it. */
export interface Watch {
  /** `callKey`. */
  readonly key: string
  readonly offer: Offer
  /** Whether it was fetched ahead, or declined. */
  readonly fate: 'prefetched' | 'declined'
  readonly offered: OfferedFacts
}

/** What telemetry is told of an offered call. */
export interface OfferedFacts {
  readonly server: string
  readonly tool: string
  /** Tokens predicted for a call that was fetched ahead. */
  readonly predicted: number
  /** Why it was not fetched ahead; absent if it was. */
  readonly reason?: DeclineReason
  /** The fetched result, once it is there. */
  landed?: { readonly tokens: number; readonly bytes: number }
}

/** An offer that was decided: made within the next calls of its context, or not. */
export interface DecidedOffer extends Watch {
  readonly isUsed: boolean
}

/** Whose call it was. */
export interface CallOwner {
  readonly tenant: string
  /** `null` if nothing names it. */
  readonly session: string | null
}

/** Whose offer it was, and whether its result was there, or on its way, when it was decided. */
export interface DecidedWhere extends CallOwner {
  readonly isKept: boolean
}

/** A call that was made, and which state of its server it saw. */
interface MadeCall {
  readonly server: string
  readonly state: number
}

interface ContextState {
  readonly made: BoundedMap<string, MadeCall>
  readonly hosts: Set<string>
  watches: { readonly watch: Watch; left: number }[]
  lastAt: number
}

/** An offer counts as used if the call is made within this many calls (SOURCES.md#planner). */
const TURNS = 3
const MAX_CONTEXTS = 10_000
const MAX_CALLS = 256
const MAX_HOSTS = 256
const MAX_WATCHES = 64
/** A context that was idle for this long has ended. */
const IDLE_MS = 3_600_000

/** What agents have called, in memory. Contexts are named by tenant too. */
export class AgentContexts {
  readonly #now: () => number
  readonly #contexts = new BoundedMap<string, ContextState>(MAX_CONTEXTS)
  /** Counts what may have changed servers. */
  readonly #states = new Map<string, number>()

  /** @param now milliseconds from any start */
  constructor(now: () => number) {
    this.#now = now
  }

  /**
   * Told of each call before it is made.
   * @param key `callKey`; `null` if the arguments cannot be compared
   * @returns what it decides of earlier offers
   */
  observeCall(
    context: string,
    call: {
      readonly key: string | null
      readonly server: string
      readonly hosts: readonly string[]
    },
  ): readonly DecidedOffer[] {
    const state = this.#of(context)
    for (const host of call.hosts) {
      if (state.hosts.size < MAX_HOSTS) state.hosts.add(host)
    }
    const decided: DecidedOffer[] = []
    state.watches = state.watches.filter(each => {
      each.left--
      const isUsed = each.watch.key === call.key
      if (isUsed || each.left === 0) decided.push({ ...each.watch, isUsed })
      return !isUsed && each.left > 0
    })
    if (call.key !== null) {
      state.made.set(call.key, { server: call.server, state: this.#stateOf(call.server) })
    }
    return decided
  }

  /** The call has no result that the agent could have read. */
  withdraw(context: string, key: string): void {
    this.#contexts.get(context)?.made.delete(key)
  }

  watch(context: string, watches: readonly Watch[]): void {
    const state = this.#of(context)
    const waiting = new Set(state.watches.map(({ watch }) => watch.key))
    for (const watch of watches) {
      if (waiting.has(watch.key) || state.watches.length >= MAX_WATCHES) continue
      waiting.add(watch.key)
      state.watches.push({ watch, left: TURNS })
    }
  }

  /** Whether the agent has made this very call, and nothing may have changed its result since. */
  isInContext(context: string, key: string): boolean {
    const made = this.#contexts.get(context)?.made.get(key)
    return made !== undefined && made.state === this.#stateOf(made.server)
  }

  knownHosts(context: string): ReadonlySet<string> {
    return this.#contexts.get(context)?.hosts ?? NO_HOSTS
  }

  /** Something may have changed at a server. */
  changed(server: string): void {
    this.#states.set(server, this.#stateOf(server) + 1)
  }

  forget(context: string): void {
    this.#contexts.delete(context)
  }

  #stateOf(server: string): number {
    return this.#states.get(server) ?? 0
  }

  #of(context: string): ContextState {
    const known = this.#contexts.get(context)
    const now = this.#now()
    const isCurrent = known !== undefined && now - known.lastAt < IDLE_MS
    const state = isCurrent
      ? known
      : {
          made: new BoundedMap<string, MadeCall>(MAX_CALLS),
          hosts: new Set<string>(),
          watches: [],
          lastAt: now,
        }
    state.lastAt = now
    this.#contexts.set(context, state)
    return state
  }
}

const NO_HOSTS: ReadonlySet<string> = new Set()
