import type { Arms } from '../../book/arms/arms.ts'
import type { ArrivedResult } from '../../book/arrivals.ts'
import type { Book } from '../../book/book.ts'
import type { SentReport } from '../../core/contract/operation-result.ts'
import type { ResultRow } from '../../core/contract/result-row.ts'
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
  readonly book?: Pick<Book, 'result'> | undefined
  readonly arms?: Pick<Arms, 'record'> | undefined
}

/** Counts what a job did, now that its answer is on its way, and passes its rows to each book. */
export function reportResults(
  { reports }: { readonly reports: readonly SentReport[] },
  arrival: Arrival,
  books: Books,
): void {
  const rows = reports.flatMap(each => reportResult(each, arrival, books) ?? [])
  books.arms?.record(arrival.tenant, rows)
}

/** The same of one report. Returns the row of its result, if it has one. */
export function reportResult(
  report: SentReport,
  { tenant, source, conversation, model, origin, isPassedOn }: Arrival,
  { metrics, book }: Books,
): ResultRow | null {
  const { op, only, texts } = report
  const row = rowOf(report)
  metrics.report(report, only === 'telemetry' ? null : row)
  if (report.row === undefined || only === 'metrics') return row
  book?.result({
    tenant,
    at: Date.now(),
    source: source ?? op,
    row: report.row,
    ...(only !== undefined && { only }),
    ...(conversation !== undefined && { conversation }),
    ...(model !== undefined && { model }),
    ...(origin !== undefined && { origin }),
    ...(isPassedOn === true && { isPassedOn }),
    ...(texts !== undefined && only === undefined && { texts }),
  })
  return row
}

/** The row of a report's result; `null`: it has none. */
export function rowOf({ row }: SentReport): ResultRow | null {
  return row === undefined ? null : (JSON.parse(row) as ResultRow)
}
