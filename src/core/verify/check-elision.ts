import { AppError } from '../base/errors.ts'
import { lineCount } from '../formats/gutter/printed-lines.ts'
import type { ElidedPart, ElisionHint } from '../hints/hint.ts'
import { ObjectValue, type Value } from '../json/value.ts'
import { decodeContent } from '../pipeline/decode.ts'
import { bodyOf } from './answer-body.ts'
import type { CheckedAnswer } from './checked-answer.ts'
import { type MissingLines, missingLines } from './missing-lines.ts'
import { missingIn, type Question } from './missing-values.ts'
import { jsonValue } from './same-meaning.ts'

/** Digits of the SHA-256 that an original is fetched by. */
const HASH_DIGITS = 24
/** A place that ends with a run of items, `$.items[3:37]`. */
const RUN = /^(.*)\[(\d+):(\d+)\]$/s

/**
 * Checks a marker: it must have the original's hash, and exactly the missing parts, at their
 * places.
 */
export function wrongElision(
  hint: ElisionHint,
  checked: CheckedAnswer,
  maxChars: number,
): string | null {
  const { request, answer, identity, value, context } = checked
  if (identity.slice(0, HASH_DIGITS) !== hint.hash) return 'the hash is not that of the original'
  const wrong = wrongSummary(hint, answer.elided) ?? wrongNext(hint, answer.chunks)
  if (wrong !== null) return wrong
  const body = bodyOf(answer)
  if (body === null) return 'the marker does not stand behind the content'
  const { gaps = [] } = body
  const rest = decoded(body, maxChars, ref => context.find(ref)[0]?.content)
  if (rest === null) return 'what is left cannot be decoded'
  const claims = hint.parts
  if (typeof value !== 'object' || value === null) {
    return gaps.length > 0
      ? wrongRows(claims, request.content, { rest, gaps })
      : wrongLines(claims, request.content, rest)
  }
  return wrongParts(claims, value, jsonValue(rest)) ?? wrongGaps(claims, { rest, gaps })
}

/** What is left, and the items of each gap in it. */
interface WithGaps {
  readonly rest: string
  readonly gaps: readonly number[]
}

/** Lists in strings of JSON are counted, but have no gaps. */
const INNER_JSON = /"[[{]/

function wrongGaps(claims: readonly ElidedPart[], { rest, gaps }: WithGaps): string | null {
  if (gaps.length === 0) return null
  const counted = gaps.reduce((sum, items) => sum + items, 0)
  const items = sumsByUnit(claims).get('items') ?? 0
  const isTrue = INNER_JSON.test(rest) ? counted <= items : counted === items
  return isTrue ? null : `the gaps count ${counted} items, the marker ${items}`
}

/** Lines of which the others are rows: these are lines of the original in their order. */
function wrongRows(
  claims: readonly ElidedPart[],
  original: string,
  { rest, gaps }: WithGaps,
): string | null {
  const lines = original.split('\n')
  const left = rest.split('\n')
  let next = 0
  for (const line of lines) if (line === left[next]) next++
  if (next < left.length) return 'what is left is no part of the original'
  const missing = lines.length - left.length
  const counted = gaps.reduce((sum, items) => sum + items, 0)
  const total = lineCount(lines)
  const isTrue =
    counted === missing &&
    sumsByUnit(claims).get('lines') === missing &&
    claims.every(({ unit, of = total, at }) => unit === 'lines' && of === total && !at)
  return isTrue ? null : 'other lines are missing than it says'
}

/** The list of the answer names the original, and the unit of which most is missing. */
function wrongSummary(
  { hash, parts }: ElisionHint,
  elided: CheckedAnswer['answer']['elided'],
): string | null {
  const [only] = elided
  if (only === undefined || elided.length > 1) return 'the answer lists not one original for it'
  if (only.hash !== hash) return 'the answer lists another hash'
  const sums = sumsByUnit(parts)
  const most = [...sums.values()].reduce((a, b) => Math.max(a, b), -Infinity)
  return only.count === most && sums.get(only.unit) === most
    ? null
    : 'the answer counts other parts than the marker'
}

/** The chunk after the one that is returned, of those that the answer lists. */
function wrongNext(
  { next }: ElisionHint,
  chunks: CheckedAnswer['answer']['chunks'] = [],
): string | null {
  if (next === undefined) return null
  const returned = chunks.findIndex(chunk => chunk.returned)
  return returned !== -1 && next.chunk === returned + 2 && next.of === chunks.length
    ? null
    : 'the answer lists other chunks'
}

function decoded(
  body: { content: string; format: string },
  maxChars: number,
  resolve: (ref: string) => string | undefined,
): string | null {
  try {
    return decodeContent(body.content, body.format, maxChars, resolve).content
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

function wrongParts(
  claims: readonly ElidedPart[],
  original: Value,
  rest: Value | undefined,
): string | null {
  if (rest === undefined) return 'what is left is no JSON'
  const ask = (question: Question) => missingIn(original, rest, question)
  const sums = sumsByUnit(claims)
  for (const unit of new Set([...sums.keys(), 'items', 'fields', 'texts', 'lines'])) {
    const bounds = ask({ counts: each => each === unit })
    if (bounds === null) return 'what is left is no part of the original'
    const reported = sums.get(unit) ?? 0
    if (reported < bounds.least || reported > bounds.most) {
      return `not ${reported} ${unit} are missing`
    }
  }
  const places = sumsOf(claims, unitAndPlace)
  for (const claim of claims) {
    if (claim.at === undefined) {
      if (claim.of === undefined || hasSize(original, claim.unit, claim.of)) continue
      return `nothing has ${claim.of} ${claim.unit}`
    }
    const bounds = ask(questionOf(claim, claim.at))
    // Places that a path cannot name are counted at the nearest that it can, so there may be more.
    if (bounds === null || places.get(unitAndPlace(claim))! > bounds.most) {
      return `not so many ${claim.unit} are missing at ${claim.at}`
    }
  }
  return null
}

/** Whether a list, an object or a text in a value has so many parts. */
function hasSize(value: Value, unit: string, of: number): boolean {
  if (typeof value === 'string') {
    const inner = jsonValue(value)
    const isJson = typeof inner === 'object' && inner !== null
    return isJson
      ? hasSize(inner, unit, of)
      : unit !== 'items' && lineCount(value.split('\n')) === of
  }
  const members = value instanceof ObjectValue ? value.values : Array.isArray(value) ? value : []
  const kind = Array.isArray(value) ? 'items' : 'fields'
  return (
    (unit === kind && members.length === of) || members.some(member => hasSize(member, unit, of))
  )
}

function questionOf({ unit, of }: ElidedPart, at: string): Question {
  const place = anyItem(at)
  const [, list = place, start, end] = (unit === 'items' && RUN.exec(place)) || []
  const run = start === undefined ? {} : { run: { start: Number(start), end: Number(end) } }
  const counts: Question['counts'] = (each, found) => each === unit && isWithin(found, list)
  // A text has no size that a list or object at the same kind of place must have.
  if (unit === 'lines' || unit === 'texts') return { counts }
  return {
    counts,
    container: { at: list, ...(of === undefined ? {} : { of }), ...run },
  }
}

/** A text in a list is named by its index, but counted with those of the other items. */
function anyItem(at: string): string {
  return at.replaceAll(/\[\d+\]/g, '[:]')
}

/** Whether a place is this one, or one in it. */
function isWithin(place: string, outer: string): boolean {
  return place.startsWith(outer) && ['', '.', '['].includes(place.charAt(outer.length))
}

function wrongLines(claims: readonly ElidedPart[], original: string, rest: string): string | null {
  const readings = missingLines(original, rest)
  if (readings.length === 0) return 'what is left is no part of the original'
  const total = lineCount(original.split('\n'))
  const isTrue = readings.some(missing => isSaid(missing, claims, total))
  return isTrue ? null : 'other lines are missing than it says'
}

/** Whether the claims are all that is missing, and true. */
function isSaid(
  { runs, cuts }: MissingLines,
  claims: readonly ElidedPart[],
  total: number,
): boolean {
  const sums = sumsByUnit(claims)
  const places = sumsOf(claims, unitAndPlace)
  const lines = runs.reduce((sum, { omitted }) => sum + omitted, 0)
  if ((sums.get('lines') ?? 0) !== lines || (sums.get('texts') ?? 0) !== cuts.length) return false
  if ([...sums.keys()].some(unit => unit !== 'lines' && unit !== 'texts')) return false
  return claims.every(claim => {
    const { unit, of, at } = claim
    if (of !== undefined && of !== total) return false
    if (at === undefined) return true
    const omitted = places.get(unitAndPlace(claim))
    if (unit === 'texts') return omitted === 1 && cuts.some(cut => at === `lines ${cut}-${cut}`)
    return runs.some(run => at === `lines ${run.first}-${run.last}` && omitted === run.omitted)
  })
}

function sumsByUnit(parts: readonly ElidedPart[]): Map<string, number> {
  return sumsOf(parts, ({ unit }) => unit)
}

/** A marker that names one place several times claims the sum of them there. */
function unitAndPlace({ unit, at }: ElidedPart): string {
  return JSON.stringify([unit, at])
}

function sumsOf(
  parts: readonly ElidedPart[],
  keyOf: (part: ElidedPart) => string,
): Map<string, number> {
  const sums = new Map<string, number>()
  for (const part of parts) {
    const key = keyOf(part)
    sums.set(key, (sums.get(key) ?? 0) + part.omitted)
  }
  return sums
}
