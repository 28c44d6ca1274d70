import { BoundedMap } from '../core/base/bounded-map.ts'

interface Refusal {
  /** Results in a row that were empty. */
  readonly empty: number
  /** For the model. */
  readonly advice: string
}

interface Streak {
  readonly empty: number
  readonly lastAt: number
}

/** A streak ends by itself after this. */
const FORGET_MS = 60_000
const MAX_CONTEXTS = 10_000
const MAX_TOOLS = 256

/**
 * Refuses a call once, after many of the tool's that found nothing. Never a dead end: a refusal
 * ends the streak, so that the next call is made; a result that is not empty ends it too, and a
 * minute without a call.
 */
export class FailFast {
  readonly #now: () => number
  readonly #contexts = new BoundedMap<string, Map<string, Streak>>(MAX_CONTEXTS)

  /** @param now milliseconds from any start */
  constructor(now: () => number) {
    this.#now = now
  }

  /**
   * Asked before a call. Returns `null` if the call may go on.
   * @param limit `fail_fast_after_n` of the tool's model; absent: never
   */
  check(context: string, tool: string, limit: number | undefined): Refusal | null {
    const empty = this.#emptyOf(context, tool)
    if (limit === undefined || empty === 0 || empty < limit) return null
    this.#contexts.get(context)?.delete(tool)
    const advice =
      `> [not called: the last ${empty} calls of this tool found nothing; ` +
      'try other arguments, or call it again]'
    return { empty, advice }
  }

  /** Told after a call. */
  observe(context: string, tool: string, isEmpty: boolean): void {
    const streaks = this.#contexts.get(context) ?? new Map<string, Streak>()
    this.#contexts.set(context, streaks)
    if (!isEmpty) streaks.delete(tool)
    else if (streaks.size < MAX_TOOLS || streaks.has(tool)) {
      streaks.set(tool, { empty: this.#emptyOf(context, tool) + 1, lastAt: this.#now() })
    }
  }

  forget(context: string): void {
    this.#contexts.delete(context)
  }

  #emptyOf(context: string, tool: string): number {
    const streak = this.#contexts.get(context)?.get(tool)
    const isOver = streak === undefined || this.#now() - streak.lastAt >= FORGET_MS
    return isOver ? 0 : streak.empty
  }
}

/** Longest text that is looked at; longer ones say something. */
const MAX_EMPTY_LENGTH = 200
const EMPTY_TEXTS = new Set(['', '[]', '{}', 'null', '""'])
/** `No files found`, `0 results`. */
const NOTHING_FOUND = /^(?:no|0) [a-z -]*\b(?:found|results?|matches|items)\b\.?$/
/** JSON whose only list is empty: `{"results":[],"total":0}`. */
const EMPTY_LIST = /^\{"[^"{}[\]]*":\[\](?:,"[^"{}[\]]*":(?:0|null|false|""))*\}$/

/** Whether a result says that there is nothing: an empty text, list or object, or words for it. */
export function isEmptyResult(text: string): boolean {
  if (text.length > MAX_EMPTY_LENGTH) return false
  const short = text.trim().toLowerCase()
  const dense = short.replace(/\s/g, '')
  return EMPTY_TEXTS.has(dense) || NOTHING_FOUND.test(short) || EMPTY_LIST.test(dense)
}
