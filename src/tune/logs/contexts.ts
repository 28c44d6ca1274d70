import { createRepeats, type Repeats } from '../../core/telemetry/repeats.ts'

/** What is followed of one context of an agent: the session's own, or a sub-agent's. */
export interface Context {
  /** Compactions so far. */
  partition: number
  /** Whether something came since the last compaction: a log has one in several lines. */
  isFresh: boolean
  readonly repeats: Repeats
}

export interface Contexts {
  /** @param agent of the sub-agent; `undefined` for the session's own context */
  of(session: string | undefined, agent: string | undefined): Context
}

/**
 * Contexts of one file that are followed at once; logs have a handful. Beyond it the one that began
 * first begins again.
 */
const MAX_CONTEXTS = 1_000

/** Follows the contexts in one file. */
export function createContexts(): Contexts {
  const contexts = new Map<string, Context>()
  return {
    of(session, agent) {
      const key = JSON.stringify([session, agent])
      const known = contexts.get(key)
      if (known !== undefined) return known
      const context = { partition: 0, isFresh: true, repeats: createRepeats() }
      contexts.set(key, context)
      if (contexts.size > MAX_CONTEXTS) contexts.delete(contexts.keys().next().value!)
      return context
    },
  }
}
