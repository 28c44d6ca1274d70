import type { Arms } from '../../book/arms/arms.ts'
import type { Job } from '../../pool/job.ts'
import type { WorkerPool } from '../../pool/pool.ts'
import { rowOf } from '../jobs/report-results.ts'
import { type RecordKeeping, recordDecisions, runByRecord } from './run-by-record.ts'

interface BesideNeeds {
  readonly pool: Pick<WorkerPool, 'run'>
  readonly arms: Pick<Arms, 'record'>
}

/**
 * Computes what a body that is held out would have saved. Its decisions are recorded under names of
 * their own, so that each result counts once.
 * @param job with the unit in `terms.beside`
 */
export async function countBeside(
  job: Job,
  keeping: RecordKeeping,
  { pool, arms }: BesideNeeds,
): Promise<void> {
  const result = await runByRecord(recalled => pool.run({ ...job, recalled }), keeping)
  if (!result.ok) return
  const before = await recordDecisions(result, keeping)
  const own = result.reports.filter(({ recordKey = '' }) => !before.has(recordKey))
  arms.record(
    keeping.tenant,
    own.flatMap(each => rowOf(each) ?? []),
  )
}
