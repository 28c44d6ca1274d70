import { existsSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { isTenantFolder, telemetryFolder } from '../../book/events/layout.ts'
import { noTally } from '../../book/events/read-lines.ts'
import { readEvents } from '../../book/events/read-telemetry.ts'
import { reportLine } from '../../core/telemetry/effectiveness.ts'
import {
  createEnrichmentTable,
  enrichmentRecord,
  writeEnrichment,
} from '../../core/telemetry/enrichment-table.ts'

/**
 * Sums up what calls ahead brought, from telemetry's events. It only adds: the figures are those
 * that the service wrote.
 * @param path a data folder, its folder of telemetry, or the folder of one tenant in it
 * @returns the text for stdout, and the seed's line; `null` if nothing happened
 */
export async function replayEnrichment(
  path: string,
  isJson: boolean,
): Promise<{ readonly text: string; readonly line: string | null }> {
  const isTenant = isTenantFolder(basename(path))
  const inData = telemetryFolder(path)
  const folder = isTenant ? dirname(path) : existsSync(inData) ? inData : path
  const options = isTenant ? { tenant: basename(path) } : {}
  const table = createEnrichmentTable()
  for await (const batch of readEvents(folder, options, noTally())) {
    for (const event of batch) table.add(event)
  }
  const total = table.total()
  const reasons = Object.keys(total.declined).sort()
  const text = isJson
    ? `${JSON.stringify({
        sessions: table.rows().map(row => enrichmentRecord(row, reasons)),
        total: enrichmentRecord(total, reasons),
      })}\n`
    : writeEnrichment(table)
  return { text, line: reportLine(total.counts) }
}
