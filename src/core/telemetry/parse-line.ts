import { TELEMETRY_SCHEMA_VERSION, type TelemetryEvent, telemetryEvent } from './event.ts'
import { type SessionSummary, sessionSummary } from './summary.ts'

/** Why a line of a telemetry file cannot be used. */
export type LineFault = 'malformed' | 'version' | 'invalid'

/** The event of a line, or why it cannot be used. */
export type ParsedLine<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: LineFault }

/**
 * A line of a file of events. `malformed`: no JSON object. `version`: another schema. `invalid`:
 * values that cannot be.
 */
export function parseEventLine(line: string): ParsedLine<TelemetryEvent> {
  return parseLine(line, text => telemetryEvent.safeParse(text).data)
}

/** A line of a file of summaries. */
export function parseSummaryLine(line: string): ParsedLine<SessionSummary> {
  return parseLine(line, text => sessionSummary.safeParse(text).data)
}

function parseLine<T>(line: string, read: (value: object) => T | undefined): ParsedLine<T> {
  const value = objectOf(line)
  if (value === null) return { ok: false, fault: 'malformed' }
  if (value.schema_version !== TELEMETRY_SCHEMA_VERSION) return { ok: false, fault: 'version' }
  const known = read(value)
  return known === undefined ? { ok: false, fault: 'invalid' } : { ok: true, value: known }
}

function objectOf(line: string): { readonly schema_version?: unknown } | null {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? value : null
  } catch {
    return null
  }
}
