import { INNER_FORMATS } from '../classify/inner-formats.ts'
import { type OfferFields, SHAPES, type TelemetryEvent } from '../telemetry/event.ts'
import { LEAST_SESSIONS } from './fingerprint.ts'
import type { Sums } from './formulas.ts'
import {
  bucketOf,
  HISTOGRAM_NAMES,
  type HistogramName,
  RATES,
  type RateName,
} from './histograms.ts'

/**
 * Parts that only some responses have and that have figures of their own: tables, lists, inner
 * formats, what was left out, and the buckets of histograms.
 */
export type Part =
  | 'tables'
  | 'lists'
  | EndpointEvent['inner_formats'][number]
  | RateName
  | `${HistogramName} ${number}`

/** What later events say of earlier results. */
export const BACK = ['retrieved', 'needed'] as const
export type BackName = (typeof BACK)[number]

const SHAPE_INDEX = new Map(SHAPES.map((shape, index) => [shape, index]))
const FORMAT_INDEX = new Map(INNER_FORMATS.map((format, index) => [format, index]))

/** The fields of an event that a fingerprint uses. */
export type EndpointEvent = Pick<
  TelemetryEvent,
  | OfferFields
  | 'endpoint_class'
  | 'session_hash'
  | 'response_chars'
  | 'shape'
  | 'inner_formats'
  | 'ts_ms'
  | 'sample_rate_applied'
  | 'n_cols'
  | 'n_rows'
  | 'key_stability'
  | 'repeat_burst'
  | 'depth'
  | 'retrieved_of'
  | 'needed_of'
> &
  Partial<Pick<TelemetryEvent, 'elided_tokens_saved'>>

/**
 * Adds an event, which represents as many responses as its sampling left out; sessions are counted
 * by the caller.
 */
export function addEvent(sums: Sums, event: EndpointEvent): void {
  const weight = 1 / event.sample_rate_applied
  sums.calls += weight
  sums.weight += weight
  sums.chars += weight * event.response_chars
  // Counted when it was written, before sampling left any out.
  if (event.repeat_burst !== undefined) sums.dups += weight
  sums.shapes[SHAPE_INDEX.get(event.shape)!]! += weight
  for (const format of event.inner_formats) sums.formats[FORMAT_INDEX.get(format)!]! += weight
  if (hasTable(event)) {
    sums.tables += weight
    sums.cols += weight * (event.n_cols ?? 0)
    sums.rows += weight * (event.n_rows ?? 0)
  }
  if (hasList(event)) {
    sums.lists += weight
    sums.stability += weight * (event.key_stability ?? 0)
  }
  for (const name of HISTOGRAM_NAMES) {
    const value = event[name]
    if (value !== undefined) sums.buckets[name][bucketOf(name, value)]! += weight
  }
  for (const rate of RATES) sums.rates[rate].weight += weight
  if (isElided(event)) sums.rates.elided.part += weight
  sums.first = Math.min(sums.first, event.ts_ms)
  sums.last = Math.max(sums.last, event.ts_ms)
}

/** Adds a result that an event came back to. */
export function addBack(sums: Sums, name: BackName, event: EndpointEvent): void {
  sums.rates[name].part += 1 / event.sample_rate_applied
}

/** The endpoints of results that an event came back to, one for each. */
export function* backIn(event: EndpointEvent): Generator<readonly [BackName, string]> {
  for (const name of BACK) for (const of of event[`${name}_of`] ?? []) yield [name, of]
}

/** Whether parts were left out, with a marker. */
function isElided({ elided_tokens_saved = 0 }: EndpointEvent): boolean {
  return elided_tokens_saved > 0
}

/** Whether an event counts for `avg_cols` and `avg_rows`. */
function hasTable({ shape, n_cols, n_rows }: EndpointEvent): boolean {
  return shape === 'markdown_table' && n_cols !== undefined && n_rows !== undefined
}

/** Whether an event counts for `key_stability_mean`. */
function hasList({ shape, key_stability }: EndpointEvent): boolean {
  return shape === 'array_of_objects' && key_stability !== undefined
}

/** The parts that an event's response has. */
export function partsOf(event: EndpointEvent): Part[] {
  const parts: Part[] = [...event.inner_formats]
  if (hasTable(event)) parts.push('tables')
  if (hasList(event)) parts.push('lists')
  if (isElided(event)) parts.push('elided')
  for (const name of HISTOGRAM_NAMES) {
    const value = event[name]
    if (value !== undefined) parts.push(`${name} ${bucketOf(name, value)}`)
  }
  return parts
}

/** Notes that a session has a response with a part. More than are asked for are not kept. */
export function noteHaving(having: Map<Part, Set<string>>, part: Part, session: string): void {
  const sessions = having.get(part)
  if (sessions === undefined) having.set(part, new Set([session]))
  else if (sessions.size < LEAST_SESSIONS) sessions.add(session)
}

/** Adds sums of other events, from another process or day; sessions are counted by the caller. */
export function addSums(sums: Sums, more: Sums): void {
  for (const name of ADDED) sums[name] += more[name]
  for (const [index, weight] of more.shapes.entries()) sums.shapes[index]! += weight
  for (const [index, weight] of more.formats.entries()) sums.formats[index]! += weight
  for (const name of HISTOGRAM_NAMES) {
    for (const [index, weight] of more.buckets[name].entries()) sums.buckets[name][index]! += weight
  }
  for (const name of RATES) {
    sums.rates[name].part += more.rates[name].part
    sums.rates[name].weight += more.rates[name].weight
  }
  sums.first = Math.min(sums.first, more.first)
  sums.last = Math.max(sums.last, more.last)
}

/** The sums that are single numbers. */
const ADDED = [
  'calls',
  'weight',
  'chars',
  'dups',
  'tables',
  'cols',
  'rows',
  'lists',
  'stability',
] as const satisfies readonly (keyof Sums)[]
