import type { FreshRecord } from '../../core/contract/operation-result.ts'
import type { RewriteMemory } from '../../core/conversation/rewrite/rewrite-memory.ts'
import type { Done, Job, JobResult } from '../../pool/job.ts'
import type { OnRecord, Rewrites } from '../../store/rewrites.ts'
import type { Rewriting } from '../context.ts'

/** Recorded decisions, by their keys. */
export type Recalled = NonNullable<Job['recalled']>

/** Where decisions are recorded and remembered. */
export interface RecordKeeping {
  readonly tenant: string
  readonly rewrites: Rewrites
  readonly generations: Pick<Rewriting['generations'], 'keep'>
  readonly memory: Pick<RewriteMemory, 'place' | 'confirm'>
  /** Called if the store did not answer in time: then the new decisions are used. */
  onUnrecorded(): void
}

/** The same for a run, which records nothing itself. */
type RunKeeping = Omit<RecordKeeping, 'rewrites' | 'generations'> & {
  readonly rewrites: Pick<Rewrites, 'recall'>
}

/**
 * Runs a rewrite until each of its decisions is recorded or new: recorded decisions take
 * precedence. Meanwhile other requests of the same conversation may add decisions to the memory or
 * remove them. So the decisions of later runs are looked up as well, each once.
 * @param run rewrites the body by the decisions that are given
 * @returns the last run's result, without the records that are there already
 */
export async function runByRecord(
  run: (recalled: Recalled) => Promise<JobResult>,
  { tenant, rewrites, memory, onUnrecorded }: RunKeeping,
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

/** Records new decisions. @returns those for which another process recorded its own first */
export async function recordDecisions(
  { records }: Pick<Done, 'records'>,
  { tenant, rewrites, memory, generations }: Omit<RecordKeeping, 'onUnrecorded'>,
): Promise<ReadonlySet<string>> {
  const begun = records.flatMap(({ generation }) => generation ?? [])
  await Promise.all(begun.map(id => generations.keep(tenant, id)))
  const overruled = await rewrites.record(tenant, records)
  for (const { key, position } of records) {
    if (position !== null && !overruled.has(key)) memory.confirm(position)
  }
  return overruled
}

/** Removes the decisions that are recorded already; later turns find those in the store. */
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

/** Remembers the decisions in force, so that later turns do not have to look them up. */
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
