import type { Report } from '../core/operations/operation.ts'
import type { JobDeps } from './context.ts'

/** Tells metrics and telemetry of what a job did, now that its answer is on its way. */
export function reportOn(
  { reports }: { readonly reports: readonly Report[] },
  tenant: string,
  { metrics, telemetry }: Pick<JobDeps, 'metrics' | 'telemetry'>,
): void {
  for (const report of reports) {
    metrics.report(report)
    if (report.response !== undefined) telemetry?.record(tenant, report.response)
  }
}
