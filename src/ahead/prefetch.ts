import type { DeclineReason } from '../core/enrich/plan.ts'
import type { Offer } from '../core/enrich/probability.ts'
import { isJsonObject, writeToolCall } from '../core/hints/tool-call.ts'

/** A call that can be answered from a result that was fetched ahead. */
export interface ScopedCall {
  /** What it depends on beside its tool and arguments. Two that differ share no result. */
  readonly scope: {
    readonly tenant: string
    /** The server, as the gateway tells servers apart. */
    readonly upstream: string
    /** The client, over whose connections and with whose credentials it is made. */
    readonly client: string
  }
  /** The tool's own name at its server. */
  readonly tool: string
  /** `canonicalArguments` of the call. */
  readonly args: string
}

/** A call that a result offered. */
export interface OfferedFacts {
  readonly offer: Offer
  /** `callKey`. */
  readonly key: string
  readonly server: string
  readonly tool: string
  /** The agent's session; `null` if nothing names it. */
  readonly session: string | null
  /** Tokens predicted for a call that was fetched ahead. */
  readonly predicted: number
  /** Why it was not fetched ahead; absent if it was. */
  readonly reason?: DeclineReason
  /** The fetched result, once it is there. */
  landed?: { readonly tokens: number; readonly bytes: number }
}

export interface Fetched<T> {
  /** `null` for errors and for results that ask for input. */
  readonly result: T | null
  readonly bytes: number
  /** How long the host asked for no more calls, if it did. */
  readonly retryAfterMs?: number
}

/** One call to make ahead. It must be eligible: the engine does not check that. */
export interface Prefetch<T> {
  readonly call: ScopedCall
  /** Whose result offered it: the agent's context. */
  readonly context: string
  /** Where it goes, for the limit by host; `null` without one. */
  readonly host: string | null
  /** `freshness_ttl_s` of the tool; 30 s if absent. */
  readonly ttlMs?: number
  readonly facts: OfferedFacts
  /**
   * Makes the call. Settles soon after `signal` is aborted. May throw or reject: that counts as no
   * result.
   */
  fetch(signal: AbortSignal): Promise<Fetched<T>>
  /** Called when a result can be served, before it is served. Must not throw. */
  onLanded?(result: T): void
}

/** What became of a fetch. Each one that is started ends as one of the last three. */
export interface FetchEvent {
  readonly kind: 'dispatched' | 'served' | 'joined' | 'wasted'
  readonly call: ScopedCall
  readonly facts: OfferedFacts
  readonly bytes: number
  /** Time that the call did not have to wait. */
  readonly savedMs: number
}

/** A list of calls: those that were not started, and what became of the others. */
export interface PrefetchBatch {
  readonly declined: readonly { readonly call: ScopedCall; readonly reason: DeclineReason }[]
  /** Those whose result is there; grows until `ended`. */
  readonly landed: readonly ScopedCall[]
  /** Resolves when all have ended; never rejects. */
  readonly ended: Promise<unknown>
}

/** Names the results of a batch that are there; `null` if there are none. */
export function announcementOf({ landed }: PrefetchBatch): string | null {
  const calls = landed.map(({ tool, args }) => {
    const parsed: unknown = JSON.parse(args)
    return writeToolCall({ name: tool, args: isJsonObject(parsed) ? parsed : {} })
  })
  return calls.length === 0 ? null : `> [prefetched: ${calls.join(', ')}]`
}

/** A result for a call of the model: kept, or on its way. */
export type Taken<T> =
  | { readonly kind: 'served'; readonly result: T }
  /** `null` if the fetch failed: the call must be made as if nothing had been fetched. */
  | { readonly kind: 'joined'; readonly result: Promise<T | null> }
