import { BoundedMap } from '../core/base/bounded-map.ts'
import type { OfferedFacts } from './prefetch.ts'

/** A call that was offered to an agent, and whether the agent made it within its next calls. */
export interface DecidedOffer {
  readonly facts: OfferedFacts
  readonly isUsed: boolean
}

interface ContextState {
  /** Calls that were made, each with the state of its server that it saw. */
  readonly made: BoundedMap<string, { readonly server: string; readonly state: number }>
  /** Results in a row that were empty, by tool. */
  readonly streaks: Map<string, { readonly empty: number; readonly lastAt: number }>
  readonly hosts: Set<string>
  /** Offered calls, until it is known whether the agent makes them. */
  watches: { readonly facts: OfferedFacts; left: number }[]
  lastAt: number
}

/** An offer counts as used if the call is made within this many calls (SOURCES.md#planner). */
const TURNS = 3
const MAX_CONTEXTS = 10_000
const MAX_CALLS = 256
const MAX_HOSTS = 256
const MAX_WATCHES = 64
const MAX_TOOLS = 256
/** A streak of empty results ends by itself after this. */
const STREAK_MS = 60_000
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
      const isUsed = each.facts.key === call.key
      if (isUsed || each.left === 0) decided.push({ facts: each.facts, isUsed })
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

  watch(context: string, offered: readonly OfferedFacts[]): void {
    const { watches } = this.#of(context)
    for (const facts of offered) {
      const isWatched = watches.some(each => each.facts.key === facts.key)
      if (!isWatched && watches.length < MAX_WATCHES) watches.push({ facts, left: TURNS })
    }
  }

  /** Whether the agent has made this very call, and nothing may have changed its result since. */
  isInContext(context: string, key: string): boolean {
    const made = this.#contexts.get(context)?.made.get(key)
    return made !== undefined && made.state === this.#stateOf(made.server)
  }

  /**
   * Refuses a call once, after many of the tool's that found nothing. Never a dead end: a refusal
   * ends the streak, so that the next call is made; a result that is not empty ends it too, and a
   * minute without a call.
   * @param limit `fail_fast_after_n` of the tool's model; absent: never
   * @returns advice for the model; `null` if the call may go on
   */
  refuse(context: string, tool: string, limit: number | undefined): string | null {
    const empty = this.#emptyOf(context, tool)
    if (limit === undefined || empty === 0 || empty < limit) return null
    this.#contexts.get(context)?.streaks.delete(tool)
    return (
      `> [not called: the last ${empty} calls of this tool found nothing; ` +
      'try other arguments, or call it again]'
    )
  }

  /** Told of each result. */
  observeResult(context: string, tool: string, isEmpty: boolean): void {
    const { streaks } = this.#of(context)
    if (!isEmpty) streaks.delete(tool)
    else if (streaks.size < MAX_TOOLS || streaks.has(tool)) {
      streaks.set(tool, { empty: this.#emptyOf(context, tool) + 1, lastAt: this.#now() })
    }
  }

  knownHosts(context: string): ReadonlySet<string> {
    return this.#contexts.get(context)?.hosts ?? new Set()
  }

  /** Something may have changed at a server. */
  changed(server: string): void {
    this.#states.set(server, this.#stateOf(server) + 1)
  }

  forget(context: string): void {
    this.#contexts.delete(context)
  }

  #emptyOf(context: string, tool: string): number {
    const streak = this.#contexts.get(context)?.streaks.get(tool)
    const isOver = streak === undefined || this.#now() - streak.lastAt >= STREAK_MS
    return isOver ? 0 : streak.empty
  }

  #stateOf(server: string): number {
    return this.#states.get(server) ?? 0
  }

  #of(context: string): ContextState {
    const known = this.#contexts.get(context)
    const now = this.#now()
    const isCurrent = known !== undefined && now - known.lastAt < IDLE_MS
    const state: ContextState = isCurrent
      ? known
      : {
          made: new BoundedMap(MAX_CALLS),
          streaks: new Map(),
          hosts: new Set(),
          watches: [],
          lastAt: now,
        }
    state.lastAt = now
    this.#contexts.set(context, state)
    return state
  }
}
