import { INNER_FORMATS } from '../../core/classify/inner-formats.ts'
import type { TelemetryEvent } from '../../core/telemetry/event.ts'

/** Something that a rule can ask of a result beside its shape. */
interface Condition {
  readonly name: string
  /** Conditions of one group imply one another, so that a rule has at most one of each. */
  readonly group: string
  holds(event: TelemetryEvent): boolean
}

/** A figure of the event that is at least so much. */
function atLeast(
  field: 'response_chars' | 'n_cols' | 'n_rows' | 'depth' | 'key_stability',
  label: string,
  bounds: readonly number[],
): readonly Condition[] {
  return bounds.map(bound => ({
    name: `${label} ≥ ${bound.toLocaleString('en-US')}`,
    group: field,
    holds: event => (event[field] ?? -1) >= bound,
  }))
}

/** All conditions; a bit each in a `ConditionMask`, by their places. */
export const CONDITIONS: readonly Condition[] = [
  ...atLeast('response_chars', 'bytes', [500, 2_000, 8_000, 32_000]),
  ...atLeast('n_cols', 'columns', [2, 8]),
  ...atLeast('n_rows', 'rows', [10]),
  ...atLeast('depth', 'depth', [3, 5]),
  ...atLeast('key_stability', 'key stability', [0.9]),
  ...INNER_FORMATS.map(format => ({
    name: format,
    group: format,
    holds: (event: TelemetryEvent) => event.inner_formats.includes(format),
  })),
]

/** A set of conditions; 24 of 31 bits are used. */
export type ConditionMask = number

/** The conditions that hold for the event. */
export function conditionsOf(event: TelemetryEvent): ConditionMask {
  return CONDITIONS.reduce((mask, { holds }, index) => mask | (Number(holds(event)) << index), 0)
}

/** The conditions by name, in the order of the table. */
export function namesOf(mask: ConditionMask): readonly string[] {
  return CONDITIONS.flatMap(({ name }, index) => ((mask & (1 << index)) === 0 ? [] : [name]))
}
