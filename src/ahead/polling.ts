import { BoundedMap } from '../core/base/bounded-map.ts'

/** A call that reads only, and for how long its results count as the same question. */
export interface Poll {
  readonly context: string
  readonly upstream: string
  /** `callKey` of the call. */
  readonly key: string
  /** `pollTtl` of the tool. */
  readonly ttlS: number
}

/** One result of a call that is repeated. */
interface Series {
  readonly poll: Poll
  /** What tells results apart: a hash of the bytes. */
  readonly hash: string
  /** The text, to answer a fourth call with. */
  readonly text: string
  /** When the calls were made that had this result. */
  times: readonly number[]
  /** Whether the next call may be answered from the last result. */
  canAnswer: boolean
}

const REPEATS = 3
const MAX_SERIES = 1_000
/** Longest text that is kept to answer with. */
const MAX_TEXT = 64 * 1_024

/** Notices an agent that asks the same again and again, and gets the same. */
export class Polling {
  readonly #now: () => number
  readonly #all = new BoundedMap<string, Series>(MAX_SERIES)

  /** @param now milliseconds from any start */
  constructor(now: () => number) {
    this.#now = now
  }

  /**
   * Asked before a call. After three calls with the same result the fourth is answered from the
   * third. The fifth is made again, so that a change is seen.
   */
  answer(poll: Poll): { readonly text: string; readonly note: string } | null {
    const series = this.#all.get(idOf(poll))
    if (series === undefined || !series.canAnswer) return null
    const times = recent([...series.times, this.#now()], poll.ttlS)
    if (times.length <= REPEATS) return null
    series.canAnswer = false
    series.times = times
    return { text: series.text, note: `${noteOf(times)}, answered from the last one]` }
  }

  /** Told after a call. Returns the note for its result if it was the same three times. */
  observe(poll: Poll, { hash, text }: Pick<Series, 'hash' | 'text'>): string | null {
    const before = this.#all.get(idOf(poll))
    const same = before?.hash === hash ? before.times : []
    const times = recent([...same, this.#now()], poll.ttlS)
    const isRepeated = times.length >= REPEATS
    const canAnswer = isRepeated && text.length <= MAX_TEXT
    const kept = canAnswer ? text : ''
    this.#all.set(idOf(poll), { poll, hash, text: kept, times, canAnswer })
    return isRepeated ? `${noteOf(times)}]` : null
  }

  /** Drops what is known of calls of a server that may have changed; `null`: of any server. */
  invalidateUpstream(upstream: string | null): void {
    this.#drop(({ poll }) => upstream === null || poll.upstream === upstream)
  }

  forget(context: string): void {
    this.#drop(({ poll }) => poll.context === context)
  }

  #drop(matches: (series: Series) => boolean): void {
    for (const [id, series] of this.#all) if (matches(series)) this.#all.delete(id)
  }
}

function idOf({ context, key }: Poll): string {
  return JSON.stringify([context, key])
}

/** The times within the window that ends now. */
function recent(times: readonly number[], ttlS: number): readonly number[] {
  const last = times.at(-1) ?? 0
  return times.filter(time => last - time <= ttlS * 1_000)
}

function noteOf(times: readonly number[]): string {
  const seconds = Math.round(((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1_000)
  return `> [unchanged: ${times.length} calls in ${seconds} s`
}

/** Words in the names of tools that report a state which changes by itself. */
const STATUS_LIKE =
  /status|state|pipeline|progress|health|poll|(?:^|_)(?:jobs?|runs?|builds?|checks?)(?:_|$)/i
const DEFAULT_TTL_S = 15

/** `poll_ttl_s` of a tool: what its model states, else 15 for what is named like a status. */
export function pollTtl(tool: string, stated: number | undefined): number | undefined {
  return stated ?? (STATUS_LIKE.test(tool) ? DEFAULT_TTL_S : undefined)
}
