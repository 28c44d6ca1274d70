import {
  addEvent,
  type EffectivenessCounts,
  noEffectiveness,
  ratesOf,
  summarize,
} from './effectiveness.ts'
import type { TelemetryEvent } from './event.ts'

/** What calls ahead brought in one session, or in all. */
export interface EnrichmentRow {
  readonly session: string
  readonly counts: EffectivenessCounts
  /** Offered calls that were not made ahead, by reason. */
  readonly declined: Readonly<Record<string, number>>
}

/** The name of the sum. */
const TOTAL = 'total'
const DECLINED = 'declined_'

/** Sums up events by session, in memory that grows with the sessions in which anything happened. */
export function createEnrichmentTable() {
  const sessions = new Map<string, ReturnType<typeof emptyRow>>()
  const total = emptyRow(TOTAL)
  return {
    add(event: TelemetryEvent): void {
      const found = sessions.get(event.session_hash)
      const row = found ?? emptyRow(event.session_hash)
      for (const each of [row, total]) addTo(each, event)
      const isWanted = summarize(row.counts) !== null || Object.keys(row.declined).length > 0
      if (found === undefined && isWanted) sessions.set(event.session_hash, row)
    },
    /** By session; those without anything are absent. */
    rows: (): readonly EnrichmentRow[] =>
      [...sessions.values()].sort((a, b) => (a.session < b.session ? -1 : 1)),
    total: (): EnrichmentRow => total,
  }
}

function emptyRow(session: string) {
  return { session, counts: noEffectiveness(), declined: {} as Record<string, number> }
}

function addTo({ counts, declined }: ReturnType<typeof emptyRow>, event: TelemetryEvent): void {
  addEvent(counts, event)
  for (const reason of event.enricher_declines ?? []) {
    declined[reason] = (declined[reason] ?? 0) + 1
  }
}

/** A record of a row: all counters, the declined calls by reason, and the rates of the seed. */
export function enrichmentRecord(row: EnrichmentRow, reasons: readonly string[]) {
  const declined = reasons.map(reason => [DECLINED + reason, row.declined[reason] ?? 0])
  const rates = Object.entries(ratesOf(row.counts))
  return { session: row.session, ...row.counts, ...Object.fromEntries([...declined, ...rates]) }
}

/**
 * The rows and their sum as CSV with a line of names. Rates are shares of 1, and empty if there is
 * nothing that they are of. No cell needs quotes: sessions are hashes, reasons plain names.
 */
export function writeEnrichment(table: ReturnType<typeof createEnrichmentTable>): string {
  const total = table.total()
  const reasons = Object.keys(total.declined).sort()
  const records = [...table.rows(), total].map(row => enrichmentRecord(row, reasons))
  const names = Object.keys(records[0] as object)
  const lines = records.map(record => Object.values(record).map(cell).join(','))
  return `${[names.join(','), ...lines].join('\n')}\n`
}

function cell(value: unknown): string {
  if (value === null) return ''
  return typeof value === 'number' && !Number.isInteger(value) ? value.toFixed(4) : String(value)
}
