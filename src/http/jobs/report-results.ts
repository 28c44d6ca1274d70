import type { SentReport } from '../../core/contract/operation-result.ts'
import type { Origin as WorkOrigin } from '../../ledger/day-sums.ts'
import type { JobDeps } from '../context.ts'

interface Reported {
  readonly reports: readonly SentReport[]
}

/** Reports what a job did to metrics and telemetry, now that its answer is on its way. */
export function reportJob(
  job: Reported,
  origin: Origin,
  deps: Pick<JobDeps, 'metrics'> & ResultRecords,
): void {
  for (const report of job.reports) deps.metrics.report(report)
  // A copy of what is left of all that the app needs would cost as much as the rest of this.
  reportResults(job, origin, deps)
}

interface ResultRecords {
  readonly telemetry?: JobDeps['telemetry'] | undefined
  readonly ledger?: JobDeps['ledger'] | undefined
}

/** Whose results they are, and how they came. */
interface Origin {
  readonly tenant: string
  /** Instead of the operation's name. */
  readonly source?: string
  /** The conversation that a proxy knows them by. */
  readonly conversation?: string | undefined
  /** The model that they are for. */
  readonly model?: string | undefined
  /** Where the request came from. */
  readonly origin?: WorkOrigin
  readonly isPassedOn?: boolean | undefined
}

/** Reports results to telemetry and the ledger, as far as these are on. */
export function reportResults(
  { reports }: Reported,
  { tenant, source, conversation, model, origin, isPassedOn }: Origin,
  { telemetry, ledger }: ResultRecords,
): void {
  const at = Date.now()
  for (const { op, response, row, texts } of reports) {
    if (response !== undefined) telemetry?.record(tenant, response)
    if (row === undefined || ledger === undefined) continue
    const named = {
      ...(conversation !== undefined && { conversation }),
      ...(model !== undefined && { model }),
      ...(origin !== undefined && { origin }),
      ...(isPassedOn === true && { isPassedOn }),
      ...(texts !== undefined && { texts }),
    }
    ledger.result({ tenant, at, source: source ?? op, row, ...named })
  }
}
