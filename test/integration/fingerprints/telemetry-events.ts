import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { loadTelemetryKey } from '../../../src/book/events/key-file.ts'
import { newSegment, segmentFile, telemetryFolder } from '../../../src/book/events/layout.ts'
import { endpointClass } from '../../../src/core/telemetry/endpoint-class.ts'
import type { TelemetryEvent } from '../../../src/core/telemetry/event.ts'
import { tenantFolder } from '../../../src/core/telemetry/pseudonyms.ts'
import { eventOf } from '../../unit/core/telemetry/events.ts'

const DAY = 86_400_000

/** Two calls of a tool in each of some sessions, over the last days. */
export function eventsOf(tool: string, sessions: number): TelemetryEvent[] {
  const endpoint_class = endpointClass(tool, {})
  return Array.from({ length: 2 * sessions }, (_, index) =>
    eventOf({
      endpoint_class,
      session_hash: (index >> 1).toString(16).padStart(16, '0').replace(/^0/, 'a'),
      ts_ms: Date.now() - DAY - index,
    }),
  )
}

/** Lays events into a data folder as telemetry does. */
export function writeEvents(
  dataDir: string,
  tenant: string,
  events: readonly TelemetryEvent[],
): void {
  const own = join(telemetryFolder(dataDir), tenantFolder(loadTelemetryKey(dataDir), tenant))
  const file = segmentFile(own, newSegment('a'.repeat(16), Date.now()), false)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, events.map(event => `${JSON.stringify(event)}\n`).join(''))
}
