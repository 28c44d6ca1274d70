import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Arrival, ArrivedOffer } from '../../../../src/book/arrivals.ts'
import { EventFiles, type EventSettings } from '../../../../src/book/events/event-files.ts'
import { noTally, type ReadTally } from '../../../../src/book/events/read-lines.ts'
import { readEvents, readSummaries } from '../../../../src/book/events/read-telemetry.ts'
import type { ResponseFacts, TelemetryEvent } from '../../../../src/core/telemetry/event.ts'
import type { SessionSummary } from '../../../../src/core/telemetry/summary.ts'
import { SETTINGS } from './settings.ts'

export const START_MS = Date.parse('2026-03-01T12:00:00Z')
export const TENANT = 'acme'

export interface TestTelemetry {
  record(tenant: string, facts: ResponseFacts): void
  offer(arrived: ArrivedOffer): void
  end(tenant: string, session: string): void
  upkeep(): Promise<void>
  close(): Promise<void>
  readonly folder: string
  /** The time of `now` and, if it differs, of `steadyNow`, in Unix milliseconds. */
  readonly clock: { now: number; steady?: number }
  readonly fates: { written: number; failed: number }
  readonly problems: Error[]
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-telemetry-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A writer in a folder of its own, with a clock that the test sets. */
export function testTelemetry(
  settings: Partial<EventSettings> = {},
  { folder = temporaryFolder(), random = (): number => 0.5, startMs = START_MS } = {},
): TestTelemetry {
  const clock: TestTelemetry['clock'] = { now: startMs }
  const fates = { written: 0, failed: 0 }
  const problems: Error[] = []
  const terms = { folder, key: new Uint8Array(32), settings: { ...SETTINGS, ...settings } }
  const steadyNow = () => clock.steady ?? clock.now
  const files = new EventFiles(terms, { now: () => clock.now, steadyNow, random })
  let done = files.lookAfter()
  /** One after the other, as a thread does its tasks. */
  const inTurn = (work: () => Promise<void>) => {
    done = done.then(work).then(() => {
      const { written, failed, problem } = files.tally()
      fates.written += written
      fates.failed += failed
      if (problem !== null) problems.push(problem)
    })
    return done
  }
  const note = (arrival: Arrival) => {
    files.note(arrival)
    void inTurn(() => files.flush())
  }
  return {
    record(tenant, facts) {
      note({ kind: 'offer', tenant, at: clock.now, session: null, facts })
    },
    offer: arrived => note({ kind: 'offer', ...arrived }),
    end: (tenant, session) => note({ kind: 'end', tenant, session }),
    upkeep: () => inTurn(() => files.settle()),
    close: () => inTurn(() => files.end()),
    folder,
    clock,
    fates,
    problems,
  }
}

/** The names of all files below, with their sizes. */
export function filesIn(folder: string): { path: string; name: string; bytes: number }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => {
      const path = join(parentPath, name)
      return { path, name, bytes: statSync(path).size }
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}

export function textIn(folder: string): string {
  return filesIn(folder)
    .map(({ path }) => readFileSync(path, 'latin1'))
    .join('\n')
}

export async function eventsIn(
  folder: string,
  tally: ReadTally = noTally(),
): Promise<TelemetryEvent[]> {
  const events: TelemetryEvent[] = []
  for await (const batch of readEvents(folder, {}, tally)) events.push(...batch)
  return events
}

export async function summariesIn(folder: string): Promise<SessionSummary[]> {
  const summaries: SessionSummary[] = []
  for await (const batch of readSummaries(folder, {}, noTally())) summaries.push(...batch)
  return summaries
}
