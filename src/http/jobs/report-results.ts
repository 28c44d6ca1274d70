import type { SentReport } from '../../core/contract/operation-result.ts'
import type { JobDeps } from '../context.ts'

interface Reported {
  readonly reports: readonly SentReport[]
}

/** Reports what a job did to metrics and telemetry, now that its answer is on its way. */
export function reportJob(
  job: Reported,
  tenant: string,
  { metrics, telemetry }: Pick<JobDeps, 'metrics' | 'telemetry'>,
): void {
  for (const report of job.reports) metrics.report(report)
  reportResponses(job, tenant, telemetry)
}

/** Reports to telemetry, if it is on. */
export function reportResponses(
  { reports }: Reported,
  tenant: string,
  telemetry: JobDeps['telemetry'],
): void {
  if (telemetry === undefined) return
  for (const { response } of reports) if (response !== undefined) telemetry.record(tenant, response)
}
