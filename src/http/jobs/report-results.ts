import type { Book } from '../../book/book.ts'
import type { ArrivedResult } from '../../book/rows/write-rows.ts'
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
}

/** Counts what a job did, now that its answer is on its way, and passes it on to the book. */
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
  { metrics, book }: Books,
): ResultRow | null {
  const { op, only, texts } = report
  const row = report.row === undefined ? null : (JSON.parse(report.row) as ResultRow)
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
