import { INNER_FORMATS } from '../classify/inner-formats.ts'
import { SHAPES, type TelemetryEvent } from '../telemetry/event.ts'
import type { Sums } from './formulas.ts'

const SHAPE_INDEX = new Map(SHAPES.map((shape, index) => [shape, index]))
const FORMAT_INDEX = new Map(INNER_FORMATS.map((format, index) => [format, index]))

/** What a fingerprint takes from an event. */
export type EndpointEvent = Pick<
  TelemetryEvent,
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
export function hasTable({ shape, n_cols, n_rows }: EndpointEvent): boolean {
  return shape === 'markdown_table' && n_cols !== undefined && n_rows !== undefined
}

/** Whether an event counts for `key_stability_mean`. */
export function hasList({ shape, key_stability }: EndpointEvent): boolean {
  return shape === 'array_of_objects' && key_stability !== undefined
}
