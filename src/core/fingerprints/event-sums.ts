import { INNER_FORMATS } from '../classify/inner-formats.ts'
import { type OfferFields, SHAPES, type TelemetryEvent } from '../telemetry/event.ts'
import type { Sums } from './formulas.ts'

/**
 * Parts that only some responses have and that have figures of their own: tables, lists, inner
 * formats.
 */
export type Part = 'tables' | 'lists' | EndpointEvent['inner_formats'][number]

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
>

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
  sums.first = Math.min(sums.first, event.ts_ms)
  sums.last = Math.max(sums.last, event.ts_ms)
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
  return parts
}

/** Notes that a session has a response with a part. */
export function noteHaving(having: Map<Part, Set<string>>, part: Part, session: string): void {
  const sessions = having.get(part)
  if (sessions === undefined) having.set(part, new Set([session]))
  else sessions.add(session)
}

/** Adds sums of other events, from another process or day; sessions are counted by the caller. */
export function addSums(sums: Sums, more: Sums): void {
  for (const name of ADDED) sums[name] += more[name]
  for (const [index, weight] of more.shapes.entries()) sums.shapes[index]! += weight
  for (const [index, weight] of more.formats.entries()) sums.formats[index]! += weight
  sums.first = Math.min(sums.first, more.first)
  sums.last = Math.max(sums.last, more.last)
}

/** The sums that are single numbers. */
export const ADDED = [
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
