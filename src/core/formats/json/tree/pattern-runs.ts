import { typedText } from '../../../base/typed-text.ts'
import { DIGIT, HEX_LETTER, LETTER, wordKind } from '../../../json/char-codes.ts'
import type { Value } from '../../../json/value.ts'
import { cutsNumber } from '../../word-cuts.ts'

/** Neighbouring members whose values are strings with a common prefix. */
export interface PatternRun {
  /** Index of the first member. */
  readonly start: number
  /** Index after the last member. */
  readonly end: number
  readonly prefix: string
}

const FEWEST_MEMBERS = 3
const SHORTEST_PREFIX = 16

/** A neighbour that shares this many times more begins a run of its own. */
const MUCH_MORE = 1.5

/**
 * Runs of members that may save tokens; the first member is in none. Greedy, linear in the strings'
 * lengths.
 */
export function findPatternRuns(values: readonly Value[]): readonly PatternRun[] {
  const runs: PatternRun[] = []
  for (let start = 1; start < values.length; ) {
    const run = runFrom(values, start)
    if (run.prefix !== '') runs.push(run)
    start = run.end
  }
  return runs
}

function runFrom(values: readonly Value[], start: number): PatternRun {
  const first = values[start]
  let end = start + 1
  if (typeof first !== 'string') return { start, end, prefix: '' }
  let length = first.length
  while (end < values.length) {
    const text = values[end]
    if (typeof text !== 'string') break
    const shared = sharedStart(first, text, length)
    if (text !== first && (shared === text.length || shared === first.length)) break
    const members = end - start
    if (shared < SHORTEST_PREFIX || isCloserToNext(text, values[end + 1], shared)) break
    if (members > 1 && (members + 1) * shared < members * length) break
    length = shared
    end++
  }
  if (end - start < FEWEST_MEMBERS) return { start, end, prefix: '' }
  length = Math.min(length, longestPart(first))
  const prefix = first.slice(0, cutStart(values.slice(start, end) as string[], length))
  return { start, end, prefix: prefix.length < SHORTEST_PREFIX ? '' : prefix }
}

/** Characters of a text that may go: if nothing were left of it, it would read as an empty one. */
function longestPart(text: string): number {
  return Math.max(0, text.length - 1)
}

function isCloserToNext(text: string, next: Value | undefined, shared: number): boolean {
  if (typeof next !== 'string') return false
  const more = Math.floor(shared * MUCH_MORE) + 1
  // Most neighbours differ at the last of these characters.
  if (typedText(text).charCodeAt(more - 1) !== typedText(next).charCodeAt(more - 1)) return false
  return sharedStart(text, next, more) >= more
}

/** The common prefix and suffix of all strings of a column. The text between them differs. */
export interface Affixes {
  readonly prefix: string
  readonly suffix: string
}

/**
 * The longest prefix and suffix that all texts share and that cut neither a word nor a number, nor
 * a pair of surrogates; `null` if there is none. Prefix and suffix leave something of each text.
 * Linear.
 */
export function commonAffixes(texts: readonly string[]): Affixes | null {
  const first = texts[0]!
  let start = first.length
  let end = first.length
  let shortest = longestPart(first)
  for (const text of texts) {
    shortest = Math.min(shortest, longestPart(text))
    start = sharedStart(first, text, start)
    end = sharedEnd(first, text, end)
    if (start === 0 && end === 0) return null
  }
  const prefix = first.slice(0, cutStart(texts, Math.min(start, shortest)))
  end = Math.min(end, shortest - prefix.length)
  const suffix = first.slice(first.length - cutEnd(texts, end))
  return prefix === '' && suffix === '' ? null : { prefix, suffix }
}

/** Characters that both begin with, at most `limit`. */
function sharedStart(first: string, second: string, limit: number): number {
  const a = typedText(first)
  const b = typedText(second)
  const bound = Math.min(limit, b.length)
  let at = 0
  while (at < bound && a.charCodeAt(at) === b.charCodeAt(at)) at++
  return at
}

function sharedEnd(first: string, second: string, limit: number): number {
  const a = typedText(first)
  const b = typedText(second)
  const bound = Math.min(limit, b.length)
  let length = 0
  while (
    length < bound &&
    a.charCodeAt(a.length - 1 - length) === b.charCodeAt(b.length - 1 - length)
  ) {
    length++
  }
  return length
}

/**
 * The longest prefix, at most `length`, after which no text continues with the same kind of
 * character.
 */
function cutStart(texts: readonly string[], length: number): number {
  if (length > 0 && texts.every(text => isCut(text, length))) return length
  let at = length - 1
  while (at > 0 && !texts.every(text => isCut(text, at))) at--
  return Math.max(at, 0)
}

function cutEnd(texts: readonly string[], length: number): number {
  if (length > 0 && texts.every(text => isCut(text, text.length - length))) return length
  let left = length - 1
  while (left > 0 && !texts.every(text => isCut(text, text.length - left))) left--
  return Math.max(left, 0)
}

/** Whether a text may be cut at `at`, outside of words and numbers. */
function isCut(string: string, at: number): boolean {
  const text = typedText(string)
  if (at === 0 || at === text.length) return true
  if (cutsNumber(string, at)) return false
  const before = kindOf(text.charCodeAt(at - 1))
  return before !== kindOf(text.charCodeAt(at)) || before === 0
}

/** Letters, digits, or neither. */
function kindOf(c: number): number {
  const kind = wordKind(c)
  return (kind & (LETTER | HEX_LETTER)) !== 0 ? LETTER : kind & DIGIT
}
