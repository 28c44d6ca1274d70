import type { Telemetry } from '../../book/events/telemetry.ts'
import type { Ledger } from '../../book/rows/ledger.ts'
import type { ArrivedResult } from '../../book/rows/write-rows.ts'
import type { SentReport } from '../../core/contract/operation-result.ts'
import type { ResultRow } from '../../core/contract/result-row.ts'
import { factsOf, keptRow } from '../../core/telemetry/result-row.ts'
import type { JobDeps } from '../context.ts'

/** Whose results they are, and how they came. */
interface Arrival extends Pick<ArrivedResult, 'tenant' | 'origin'> {
  /** Instead of the operation's name. */
  readonly source?: string
  /** The conversation that a proxy knows them by. */
  readonly conversation?: string | undefined
  /** The model that they are for. */
  readonly model?: string | undefined
  readonly isPassedOn?: boolean | undefined
}

interface Books {
  readonly metrics: Pick<JobDeps['metrics'], 'report'>
  readonly telemetry?: Pick<Telemetry, 'record'> | undefined
  readonly ledger?: Pick<Ledger, 'result'> | undefined
}

/**
 * Counts what a job did, now that its answer is on its way, and writes it down as far as telemetry
 * and the ledger are on.
 */
export function reportResults(
  { reports }: { readonly reports: readonly SentReport[] },
  arrival: Arrival,
  books: Books,
): void {
  for (const each of reports) reportResult(each, arrival, books)
}

/** The same of one report. Returns the row of its result, if it has one. */
export function reportResult(
  report: SentReport,
  { tenant, source, conversation, model, origin, isPassedOn }: Arrival,
  { metrics, telemetry, ledger }: Books,
): ResultRow | null {
  const { op, only, texts } = report
  const row = report.row === undefined ? null : (JSON.parse(report.row) as ResultRow)
  metrics.report(report, only === 'telemetry' ? null : row)
  if (row === null || only === 'metrics') return row
  telemetry?.record(tenant, pseudonyms => factsOf(row, pseudonyms))
  if (only === 'telemetry') return row
  ledger?.result({
    tenant,
    at: Date.now(),
    source: source ?? op,
    row: JSON.stringify(keptRow(row)),
    ...(conversation !== undefined && { conversation }),
    ...(model !== undefined && { model }),
    ...(origin !== undefined && { origin }),
    ...(isPassedOn === true && { isPassedOn }),
    ...(texts !== undefined && { texts }),
  })
  return row
}
