import type { FreshRecord } from '../../core/contract/operation-result.ts'
import type { RewriteMemory } from '../../core/conversation/rewrite/rewrite-memory.ts'
import type { Job, JobResult } from '../../pool/job.ts'
import type { OnRecord, Rewrites } from '../../store/rewrites.ts'
import type { Done } from '../jobs/commit-answer.ts'

/** Decisions on record, by their keys. */
export type Recalled = NonNullable<Job['recalled']>

export interface RecordKeeping {
  readonly tenant: string
  readonly rewrites: Pick<Rewrites, 'recall'>
  readonly memory: Pick<RewriteMemory, 'place' | 'confirm'>
  /** The store did not answer in time: what was decided now holds. */
  onUnrecorded(): void
}

/**
 * Runs a rewrite until each of its decisions is either on record or new: what was decided earlier
 * holds. The memory may gain and lose decisions meanwhile, as other requests bring the same
 * conversation; so what a later run decides is looked up as well, each decision once.
 * @param run rewrites the body by the decisions that are given
 * @returns the last run's result, without the records that are there already
 */
export async function runByRecord(
  run: (recalled: Recalled) => Promise<JobResult>,
  { tenant, rewrites, memory, onUnrecorded }: RecordKeeping,
): Promise<JobResult> {
  const asked = new Set<string>()
  let recalled: Recalled = {}
  for (;;) {
    const result = await run(recalled)
    if (!result.ok) return result
    const unasked = result.records.filter(({ key }) => !asked.has(key))
    const onRecord = await rewrites.recall(tenant, unasked)
    if (onRecord === null) onUnrecorded()
    if (onRecord?.differs !== true) {
      remember(recalled, result.records, memory)
      return onRecord === null ? result : withoutKnown(result, onRecord, memory)
    }
    for (const { key } of unasked) asked.add(key)
    recalled = { ...recalled, ...onRecord.found }
  }
}

/** Keeps what is not on record yet; what is there already is found by later turns. */
function withoutKnown(
  result: Done,
  { found }: OnRecord,
  memory: Pick<RewriteMemory, 'confirm'>,
): Done {
  for (const { key, position } of result.records) {
    if (position !== null && found[key] !== undefined) memory.confirm(position)
  }
  return {
    ...result,
    records: result.records.filter(({ key }) => found[key] === undefined),
    reports: result.reports.filter(({ recordKey = '' }) => found[recordKey] === undefined),
  }
}

/** Later turns find what holds without asking for it. */
function remember(
  recalled: Recalled,
  records: readonly FreshRecord[],
  memory: Pick<RewriteMemory, 'place' | 'confirm'>,
): void {
  const replaced = new Set(records.map(({ key }) => key))
  for (const [key, bytes] of Object.entries(recalled)) {
    const position = replaced.has(key) ? null : memory.place(key, bytes)
    if (position !== null) memory.confirm(position)
  }
}
