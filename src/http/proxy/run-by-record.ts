import { inTime } from '../../core/base/deadline.ts'
import type { FreshRecord } from '../../core/contract/operation-result.ts'
import type { RequestTerms } from '../../core/contract/request-terms.ts'
import type { RewriteMemory } from '../../core/conversation/rewrite/rewrite-memory.ts'
import type { Done, Job, JobResult } from '../../pool/job.ts'
import type { OnRecord, RecordedBefore, Rewrites } from '../../store/sharing/rewrites.ts'
import type { WaitBounds } from '../../store/values/outage-waits.ts'
import type { Rewriting } from '../context.ts'
import { withoutKnownResults } from './known-results.ts'

/** Recorded decisions, by their keys. */
export type Recalled = NonNullable<Job['recalled']>

/** Where decisions are recorded and remembered. */
export interface RecordKeeping {
  readonly tenant: string
  readonly rewrites: Rewrites
  readonly generations: Pick<Rewriting['generations'], 'keep'>
  readonly memory: Pick<RewriteMemory, 'place' | 'confirm'>
  /** Bounds of the wait for a store that processes share. */
  readonly bounds?: WaitBounds
  /** Called if the store did not answer in time: then the new decisions are used. */
  onUnrecorded(): void
}

/** The same for a run, which records nothing itself if the store is this process's own. */
type RunKeeping = Omit<RecordKeeping, 'rewrites'> & {
  readonly rewrites: Pick<Rewrites, 'decide' | 'lookAhead' | 'mayHaveLost'>
}

/**
 * Rewrites a body by the decisions that are given.
 * @param ahead gets keys of decisions that are about to be made
 */
export type RunByDecisions = (
  recalled: Recalled,
  terms?: Pick<RequestTerms, 'recordedOnly' | 'earlierWhole'>,
  ahead?: Pick<Job, 'onKeysAhead'>,
) => Promise<JobResult>

/**
 * Runs a rewrite until each of its decisions is recorded or new: recorded decisions take
 * precedence. Meanwhile other requests of the same conversation may add decisions to the memory or
 * remove them. So the decisions of later runs are looked up as well, each once. If the store does
 * not answer, nothing is left out that was not before: another process would not know of it.
 * @returns the last run's result, with the records that are still to be written
 */
export async function runByRecord(
  run: RunByDecisions,
  { tenant, rewrites, memory, generations, bounds, onUnrecorded }: RunKeeping,
): Promise<JobResult> {
  const asked = new Map<string, boolean>()
  let recalled: Recalled = {}
  let terms: Parameters<RunByDecisions>[1]
  for (;;) {
    const ahead = rewrites.lookAhead?.(tenant)
    const result = await run(recalled, terms, ahead && { onKeysAhead: ahead.look })
    if (!result.ok) return result
    const { records } = result
    const [onRecord] = await Promise.all([
      rewrites.decide(tenant, records, asked, bounds, ahead),
      inTime(keepGenerations(records, tenant, generations), KEEP_MS),
    ])
    if (onRecord.others === 'unsure') {
      // The process that sent them could not record them, and left nothing out of them.
      terms = { earlierWhole: true }
      for (const { key, isEarlier } of records) if (isEarlier) asked.set(key, false)
      recalled = { ...recalled, ...onRecord.found }
      continue
    }
    if (onRecord.differs) {
      for (const { key } of records) asked.set(key, onRecord.found[key] !== undefined)
      recalled = { ...recalled, ...onRecord.found }
      continue
    }
    remember(recalled, records, memory, rewrites.mayHaveLost === true)
    if (onRecord.others !== 'unheard') return withoutKnown(result, onRecord, memory)
    if (bounds?.isOver() !== true) onUnrecorded()
    const isLeftOut = result.keep.length > 0
    const sent = isLeftOut ? await run(recalled, { ...terms, recordedOnly: true }) : result
    return sent.ok ? withoutEarlierResults(sent) : sent
  }
}

/** The configurations that conversations begin with are there before these are recorded. */
async function keepGenerations(
  records: readonly FreshRecord[],
  tenant: string,
  generations: RecordKeeping['generations'],
): Promise<void> {
  const begun = records.flatMap(({ generation }) => generation ?? [])
  await Promise.all(begun.map(id => generations.keep(tenant, id)))
}

/**
 * Records decisions that are not recorded yet. @returns those for which another request recorded
 * one first
 */
export async function recordDecisions(
  { records }: Pick<Done, 'records'>,
  { tenant, rewrites, memory }: Pick<RecordKeeping, 'tenant' | 'rewrites' | 'memory'>,
): Promise<RecordedBefore> {
  if (records.length === 0) return NONE
  const before = await rewrites.record(tenant, records)
  for (const { key, position } of records) {
    if (position !== null && before.get(key) !== 'other') memory.confirm(position)
  }
  return before
}

const NONE: RecordedBefore = new Map()
/** How long a request waits until a configuration is kept, in milliseconds. */
const KEEP_MS = 2_000

/** Removes the decisions that are recorded already; later turns find those in the store. */
function withoutKnown(
  result: Done,
  { found, others }: OnRecord,
  memory: Pick<RewriteMemory, 'confirm'>,
): Done {
  const isLeft = ({ key }: FreshRecord) => others === 'left' && found[key] === undefined
  for (const record of result.records) {
    if (record.position !== null && !isLeft(record)) memory.confirm(record.position)
  }
  return {
    ...result,
    records: result.records.filter(isLeft),
    reports: withoutKnownResults(result.reports, key => found[key] !== undefined),
  }
}

/** Who sent the turn that an earlier result came with has counted it, and tells the store later. */
function withoutEarlierResults(result: Done): Done {
  const earlier = new Set(result.records.flatMap(({ key, isEarlier }) => (isEarlier ? [key] : [])))
  const reports = withoutKnownResults(result.reports, key => earlier.has(key))
  return reports === result.reports ? result : { ...result, reports }
}

/** Remembers the decisions in force, so that later turns do not have to look them up. */
function remember(
  recalled: Recalled,
  records: readonly FreshRecord[],
  memory: Pick<RewriteMemory, 'place' | 'confirm'>,
  mayReplace: boolean,
): void {
  const replaced = new Set(records.map(({ key }) => key))
  for (const [key, bytes] of Object.entries(recalled)) {
    const position = replaced.has(key) ? null : memory.place(key, bytes, mayReplace)
    if (position !== null) memory.confirm(position)
  }
}
