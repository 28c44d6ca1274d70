import type { EarlierCall } from './hint.ts'
import type { Shown } from './text-slot.ts'
import { isJsonObject } from './tool-call.ts'

/** The part of a call that is kept so that a later hint can name it. */
export interface CallName {
  readonly tool: string
  /** See `decisiveArgument`. */
  readonly argument?: string
}

/** An argument is shown whole up to this length, and shortened to no less than `MIN_CHARS`. */
const SHORT_CHARS = 16
const MIN_CHARS = 8
/**
 * Most characters of an argument that are kept. Calls that differ later are distinguished by
 * `calls_ago`.
 */
const MAX_CHARS = 512
/** A longer argument costs more than the distance does. */
const LONG_CHARS = 32
/** Distances that a reader can be expected to count. */
const NEAR_CALLS = 9

/**
 * The argument that a reader knows a call by: the first that is a string, else the first number.
 * Tools declare what matters first, and models write arguments in that order. At most 512
 * characters of it.
 */
export function decisiveArgument(args: unknown): string | undefined {
  if (!isJsonObject(args)) return undefined
  const values = Object.values(args)
  const text = values.find(value => typeof value === 'string' && value.trim() !== '')
  if (typeof text === 'string') return text.slice(0, MAX_CHARS)
  const number = values.find(value => typeof value === 'number')
  return number === undefined ? undefined : String(number)
}

/**
 * The shortest name for call `at` among `calls`, the calls of this agent context in their order, up
 * to the one that is being answered (not included). An argument is shortened as far as it still
 * distinguishes the call from the others of the tool: a path to its last names, other text to its
 * first characters. If a later call has the same argument, the name has the distance. A long
 * argument is replaced by the distance if that is short enough to count. Linear in `calls`.
 * @throws RangeError if there is no call `at`
 */
export function nameEarlierCall(calls: readonly CallName[], at: number): EarlierCall {
  const call = calls[at]
  if (call === undefined) throw new RangeError(`no call ${at}`)
  const { tool, argument } = call
  const isTwin = (other: CallName) => other.tool === tool && other.argument === argument
  const ago = calls.length - at
  const hasTwin = calls.slice(at + 1).some(isTwin)
  if (argument === undefined || (hasTwin && ago <= NEAR_CALLS)) return { tool, calls_ago: ago }
  const others = calls.flatMap(other =>
    other.tool === tool && other.argument !== undefined && other.argument !== argument
      ? [other.argument]
      : [],
  )
  const shown = shorten(argument, others)
  if (ago <= NEAR_CALLS && !isName(shown)) return { tool, calls_ago: ago }
  return { tool, argument: shown, ...(hasTwin ? { calls_ago: ago } : {}) }
}

/**
 * Whether it reads as a name. Pieces of commands and prose are less clear than a short distance,
 * and cost more.
 */
function isName(shown: Shown): boolean {
  const text = typeof shown === 'string' ? shown : Object.values(shown).join('')
  return text.length <= LONG_CHARS && /^[\w./~-]+$/.test(text)
}

/** The shortest excerpt that no other argument has in this place; paths are known by their ends. */
function shorten(argument: string, others: readonly string[]): Shown {
  if (argument.length <= SHORT_CHARS) return argument
  const end = lastNames(argument, others)
  if (!/\s/.test(argument)) return end.length < argument.length ? { end } : argument
  const start = firstWords(argument, others)
  if (Math.min(start.length, end.length) >= argument.length) return argument
  return start.length <= Math.max(end.length, SHORT_CHARS) ? { start } : { end }
}

/** From the start to the end of the word that differs, or a little further. */
function firstWords(text: string, others: readonly string[]): string {
  const shared = others.reduce((most, other) => Math.max(most, commonStart(text, other)), 0)
  const length = text.slice(Math.max(shared, MIN_CHARS)).search(/\s/)
  return length < 0 ? text : text.slice(0, Math.max(shared, MIN_CHARS) + length)
}

/** From the start of the word, or name in a path, that differs. */
function lastNames(text: string, others: readonly string[]): string {
  const shared = others.reduce((most, other) => Math.max(most, commonEnd(text, other)), 0)
  let from = text.length - Math.max(shared + 1, MIN_CHARS)
  while (from > 0 && !/[\s/\\]/.test(text[from - 1]!)) from--
  return text.slice(Math.max(0, from))
}

function commonEnd(a: string, b: string): number {
  let length = 0
  while (length < a.length && a.at(-1 - length) === b.at(-1 - length)) length++
  return length
}

function commonStart(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  return length
}
