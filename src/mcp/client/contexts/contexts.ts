import { hash } from 'node:crypto'
import type { ResultPlace } from '../../../core/contract/request-terms.ts'
import { IndexBusyError } from '../../../core/sessions/index/lock.ts'
import { type SessionIndex, sessionKey } from '../../../core/sessions/index/session-index.ts'
import type { Compactions } from './compactions.ts'

/** A context ends if nothing was called in it for this long, in milliseconds. */
const IDLE_MS = 60 * 60 * 1000

/** Contexts whose compactions are watched. */
const MAX_WATCHED = 10_000

export interface ContextsOptions {
  readonly index: Pick<SessionIndex, 'begin' | 'present' | 'summary' | 'compact' | 'close'>
  readonly tenant: string
  /** The key of the client; `null` if it needs none. Keys share no contexts. */
  readonly credential: string | null
  /** Reports of hooks; absent if they come by the route of sessions alone. */
  readonly compactions?: Compactions
  /** Unix milliseconds. */
  now(): number
}

/** Which agents have read what. One context is one session of the index. */
export interface Contexts {
  /**
   * Counts a call when it comes, so that the distance to an earlier call is the one that its reader
   * counts, in whatever order the results come. Returns `null` if its result must stand alone.
   */
  arrive(context: string): ResultPlace | null
  /**
   * Whether the context is still the one that the call came in: not compacted since, as far as that
   * can be known. Asked before its result leaves.
   */
  isCurrent(context: string, place: ResultPlace): boolean
  /** The context has lost a text that it was sent: nothing older is referred to again. */
  lost(context: string): void
  /** The name of its session, by which references are retrieved. */
  sessionOf(context: string): string
}

/** The name of the session of a context, as `/v1/sessions/{id}` knows it. */
export function sessionOfContext(context: string, credential: string | null): string {
  if (credential === null || credential === '') return context
  return hash(
    'sha256',
    Buffer.from(`${credential.length}:${credential}${context}`, 'utf16le'),
    'hex',
  )
}

export function createContexts(options: ContextsOptions): Contexts {
  const { index, tenant, credential, compactions, now } = options
  /** The last stamp of each context, the one seen last at the end. */
  const stamps = new Map<string, string>()
  /** Contexts in which a call could not be counted: earlier distances do not hold there. */
  const miscounted = new Set<string>()

  const sessionOf = (context: string) => sessionOfContext(context, credential)
  const keyOf = (context: string) => sessionKey(tenant, sessionOf(context))

  function watch(context: string): void {
    if (compactions === undefined) return
    const stamp = compactions.stampOf(context)
    const before = stamps.get(context)
    if (before !== undefined && before !== stamp) index.compact(keyOf(context))
    stamps.delete(context)
    stamps.set(context, stamp)
    if (stamps.size <= MAX_WATCHED) return
    const [oldest] = stamps.keys()
    // Results of a context that is no longer watched must not be referred to.
    index.close(keyOf(oldest as string))
    stamps.delete(oldest as string)
  }

  function isCurrent(context: string, { epoch }: ResultPlace): boolean {
    watch(context)
    return index.present(keyOf(context))?.epoch === epoch
  }

  function begin(context: string): ResultPlace | null {
    const key = keyOf(context)
    // Its results are counted elsewhere, and this call would not be among them.
    if (index.present(key)?.isShared) return null
    const timeMs = now()
    const known = index.summary(key)
    if (known !== null && timeMs - known.seenMs > IDLE_MS) index.close(key)
    if (miscounted.has(context)) index.compact(key)
    watch(context)
    const { sequence, epoch } = index.begin(key, { timeMs })
    miscounted.delete(context)
    return { session: sessionOf(context), sequence, epoch }
  }

  /** The main thread does not wait for the lock of the index. */
  function unlessBusy<T>(context: string, act: () => T): T | null {
    try {
      return act()
    } catch (error) {
      if (!(error instanceof IndexBusyError)) throw error
      miscounted.add(context)
      return null
    }
  }

  return {
    arrive: context => unlessBusy(context, () => begin(context)),
    isCurrent: (context, place) => unlessBusy(context, () => isCurrent(context, place)) ?? false,
    lost: context => void unlessBusy(context, () => index.compact(keyOf(context))),
    sessionOf,
  }
}
