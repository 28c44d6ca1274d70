import { BoundedMap } from '../core/base/bounded-map.ts'

/** Refuses a call once, after many of the tool's that found nothing. */
export interface FailFast {
  /**
   * Asked before a call. Returns advice for the model if the call is refused, and the results in a
   * row that were empty; `null` if the call may go on.
   * @param limit `fail_fast_after_n` of the tool's model; absent: never
   */
  check(context: string, tool: string, limit: number | undefined): Refusal | null
  /** Told after a call. */
  observe(context: string, tool: string, isEmpty: boolean): void
  forget(context: string): void
}

export interface Refusal {
  readonly empty: number
  readonly advice: string
}

interface Streak {
  empty: number
  lastAt: number
}

/** A streak ends by itself after this. */
const FORGET_MS = 60_000
const MAX_CONTEXTS = 10_000
const MAX_TOOLS = 256

/**
 * Never a dead end: a refusal ends the streak, so that the next call is made; a result that is not
 * empty ends it too, and a minute without a call. @param now milliseconds from any start
 */
export function createFailFast(now: () => number): FailFast {
  const contexts = new BoundedMap<string, Map<string, Streak>>(MAX_CONTEXTS)

  function streaksOf(context: string): Map<string, Streak> {
    const streaks = contexts.get(context) ?? new Map<string, Streak>()
    contexts.set(context, streaks)
    return streaks
  }

  return {
    check(context, tool, limit) {
      const streak = contexts.get(context)?.get(tool)
      if (limit === undefined || streak === undefined) return null
      if (now() - streak.lastAt >= FORGET_MS) {
        contexts.get(context)?.delete(tool)
        return null
      }
      if (streak.empty < limit) return null
      contexts.get(context)?.delete(tool)
      const { empty } = streak
      return {
        empty,
        advice:
          `> [not called: the last ${empty} calls of this tool found nothing; ` +
          'try other arguments, or call it again]',
      }
    },
    observe(context, tool, isEmpty) {
      const streaks = streaksOf(context)
      if (!isEmpty) {
        streaks.delete(tool)
        return
      }
      const streak = streaks.get(tool)
      const isOld = streak === undefined || now() - streak.lastAt >= FORGET_MS
      if (streaks.size >= MAX_TOOLS && !streaks.has(tool)) return
      streaks.set(tool, { empty: isOld ? 1 : streak.empty + 1, lastAt: now() })
    },
    forget(context) {
      contexts.delete(context)
    },
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
