import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { TelemetryEvent } from '../../core/telemetry/event.ts'
import { parseEventLine, parseSummaryLine } from '../../core/telemetry/parse-line.ts'
import type { SessionSummary } from '../../core/telemetry/summary.ts'
import {
  eventsFolder,
  isTenantFolder,
  readSegmentName,
  segmentFile,
  sessionsFolder,
} from './layout.ts'
import { isFileError, type ReadTally, readLines } from './read-lines.ts'

/** Which part of the telemetry is read. */
export interface ReadOptions {
  /** The folder of one tenant (`tenantFolder`); those of all if absent. */
  readonly tenant?: string | undefined
  /** Unix milliseconds; nothing older is read. */
  readonly sinceMs?: number | undefined
}

/**
 * The events below a telemetry folder, in batches; sessions one after the other, each in order,
 * also those that are still written.
 * @param tally counts what was read and passed over
 */
export async function* readEvents(
  folder: string,
  { tenant, sinceMs = 0 }: ReadOptions,
  tally: ReadTally,
): AsyncGenerator<readonly TelemetryEvent[]> {
  for (const own of await tenantsOf(folder, tenant)) {
    const tenantFolder = join(folder, own)
    const events = eventsFolder(tenantFolder)
    for (const name of (await namesIn(events)).sort()) {
      const known = readSegmentName(name)
      if (known === null) continue
      const later = known.isOpen ? segmentFile(tenantFolder, known.segment, false) : undefined
      for await (const batch of readLines(join(events, name), parseEventLine, tally, later)) {
        yield batch.filter(({ ts_ms }) => ts_ms >= sinceMs)
      }
    }
  }
}

/** The summaries, each segment's once. */
export async function* readSummaries(
  folder: string,
  { tenant, sinceMs = 0 }: ReadOptions,
  tally: ReadTally,
): AsyncGenerator<readonly SessionSummary[]> {
  for (const own of await tenantsOf(folder, tenant)) {
    const sessions = sessionsFolder(join(folder, own))
    const seen = new Set<string>()
    for (const name of (await namesIn(sessions)).sort()) {
      for await (const batch of readLines(join(sessions, name), parseSummaryLine, tally)) {
        yield batch.filter(({ segment, ended_at_ms }) => {
          if (seen.has(segment) || ended_at_ms < sinceMs) return false
          seen.add(segment)
          return true
        })
      }
    }
  }
}

/** The tenants' folders. */
export async function tenantsOf(folder: string, tenant?: string): Promise<readonly string[]> {
  if (tenant !== undefined) return [tenant]
  return (await namesIn(folder)).filter(isTenantFolder).sort()
}

/** Names in a folder; none if it is not there. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (isFileError(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return []
    throw error
  }
}
