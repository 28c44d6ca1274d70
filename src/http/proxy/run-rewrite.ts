import { inTime } from '../../core/base/deadline.ts'
import { AppError } from '../../core/base/errors.ts'
import type { TextBytes } from '../../core/base/text-bytes.ts'
import type {
  FreshRecord,
  RewriteReport,
  SentReport,
} from '../../core/contract/operation-result.ts'
import type { RequestTerms } from '../../core/contract/request-terms.ts'
import type { RewriteMemory } from '../../core/conversation/rewrite/rewrite-memory.ts'
import { rewriteOp } from '../../core/operations/rewrite-request.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { UntouchedReason } from '../../observability/proxy-metrics.ts'
import type { Done, Generation, Job, JobResult } from '../../pool/job.ts'
import type { WorkerPool } from '../../pool/pool.ts'
import type { Vendor } from '../../proxy/vendor-errors.ts'
import type { Originals } from '../../store/originals.ts'
import type { OnRecord, Rewrites } from '../../store/rewrites.ts'
import type { AppContext, JobDeps, Rewriting } from '../context.ts'
import { reportResults } from '../jobs/report-results.ts'
import { responseBudgetTerm } from '../request/response-budget.ts'
import type { PromptWarnings } from './prompt-warnings.ts'
import type { RewritableBody } from './rewritable-request.ts'

/** A body that was read, and what it is. */
export interface ReadBody extends RewritableBody {
  readonly vendor: Vendor
  readonly body: Uint8Array
  /** The name of the conversation that a request continues, if more than the body tells it. */
  readonly conversationOf?: (report: RewriteReport) => string | undefined
}

/** What leaves for a body. */
export interface RewrittenBody {
  readonly body: Uint8Array
  /** What was done to it. */
  readonly report?: RewriteReport
  /** Why it is the client's own body; absent if it was read. */
  readonly untouched?: UntouchedReason
  /** Settles once the rewrites are recorded. Never rejects. */
  readonly recorded?: Promise<unknown>
}

export interface RunNeeds extends Pick<JobDeps, 'telemetry' | 'ledger'> {
  readonly pool: Pick<WorkerPool, 'run'>
  readonly metrics: Pick<Metrics, 'job' | 'proxy'>
  readonly logger: Pick<Logger, 'error'>
  readonly originals: Pick<Originals, 'keep' | 'renew'>
  readonly warnings: PromptWarnings
}

/** A request whose own tools fetch originals may have markers. */
const ELIDING: RequestTerms = { redeems: true, bypass: false }
/** How often a body is rewritten by what other processes record meanwhile. */
const ATTEMPTS = 3
const LOSSLESS: RequestTerms = { redeems: false, bypass: false }

/**
 * Returns a body as a worker rewrites it. Earlier rewrites are repeated as recorded, and markers
 * are only for originals that are durable. Returns the body itself if that fails or changes
 * nothing. Never rejects.
 */
export async function runRewrite(
  c: AppContext,
  { vendor, shape, model, coding, body, conversationOf }: ReadBody,
  { rewrites, memory, generations, recordsFirst, timeoutMs, maxBytes }: Rewriting,
  { pool, metrics, logger, originals, telemetry, ledger, warnings }: RunNeeds,
): Promise<RewrittenBody> {
  const state = c.get('state')
  const { requestId, caller } = state
  const { tenant } = caller
  const op = rewriteOp(shape)
  const ofRequest = {
    ...(caller.keyId === '' ? {} : { key: caller.keyId }),
    ...(coding === undefined ? {} : { compressed: { coding, maxBytes } }),
    ...(model === undefined ? {} : { model }),
  }
  let isLate = false
  /** The first run sees what changed; those after it compare the request with itself. */
  let change: RewriteReport['head_change']
  const job = {
    op,
    tenant,
    media: 'json',
    accept: 'json',
    body,
    retained: true,
    requestId,
    limitMs: timeoutMs,
    abandoned: () => isLate || c.env.outgoing?.destroyed === true,
  } as const

  async function run(terms: RequestTerms, recalled: Recalled): Promise<JobResult> {
    const now = { ...job, terms: { ...terms, ...ofRequest }, recalled }
    return withGeneration(
      async kept => {
        const result = await pool.run({ ...now, ...kept })
        state.timing = { queue: result.queue_ms, work: result.work_ms }
        metrics.job(op, result.queue_ms, result.work_ms)
        if (result.ok) change ??= rewriteOf(result)?.head_change
        return result
      },
      id => generations.find(tenant, id),
    )
  }

  const wish = responseBudgetTerm(c)
  const runByTheRecord = (terms: RequestTerms) =>
    runByRecord(recalled => run({ ...terms, ...wish }, recalled), {
      tenant,
      rewrites,
      memory,
      onUnrecorded: () => metrics.proxy.unrecorded(vendor),
    })

  /** Runs a rewrite whose markers are only for originals that are durable. */
  async function runWithOriginals(): Promise<JobResult> {
    const isTrue = async (result: JobResult) =>
      !result.ok || (await areKept(result, tenant, originals))
    const result = await runByTheRecord(ELIDING)
    if (await isTrue(result)) return result
    // Their texts are in the request.
    const restored = await runByTheRecord({ ...ELIDING, restores: true })
    return (await isTrue(restored)) ? restored : runByTheRecord(LOSSLESS)
  }

  /** Records new decisions. @returns those for which another process recorded its own first */
  async function record({ records }: Done): Promise<ReadonlySet<string>> {
    const begun = records.flatMap(({ generation }) => generation ?? [])
    await Promise.all(begun.map(id => generations.keep(tenant, id)))
    const overruled = await rewrites.record(tenant, records)
    for (const { key, position } of records) {
      if (position !== null && !overruled.has(key)) memory.confirm(position)
    }
    return overruled
  }

  /**
   * With a store that other processes share, decisions are recorded before they are sent. If
   * another process was first, the body is rewritten by its decisions. So two processes never send
   * two prefixes.
   */
  async function runRecorded(): Promise<JobResult> {
    const own: SentReport[] = []
    for (let attempt = 1; ; attempt++) {
      const result = await runWithOriginals()
      if (!result.ok || !recordsFirst) return result
      const overruled = await record(result)
      const reports = [...own, ...result.reports]
      if (overruled.size === 0 || attempt === ATTEMPTS) return { ...result, reports, records: [] }
      // These are recorded now, so the next run does not report them.
      const keys = new Set(result.records.map(({ key }) => key).filter(key => !overruled.has(key)))
      own.push(...result.reports.filter(({ recordKey = '' }) => keys.has(recordKey)))
    }
  }

  function untouched(reason: UntouchedReason): RewrittenBody {
    metrics.proxy.untouched(vendor, reason)
    return { body, untouched: reason }
  }

  try {
    const result = await inTime(runRecorded(), timeoutMs)
    isLate = result === null
    if (result === null || !result.ok) {
      const isFull = result?.problem.code === 'overloaded'
      return untouched(isFull ? 'overloaded' : 'failed')
    }
    const own = rewriteOf(result)
    if (own?.readable !== true) {
      return untouched('unreadable')
    }
    if (change !== undefined) {
      warnings.changed(tenant, change)
      metrics.proxy.promptChange(vendor, change)
    }
    const conversation = conversationOf?.(own)
    const report = conversation === undefined ? own : { ...own, conversation }
    metrics.proxy.rewrite(vendor, report)
    const origin = { tenant, source: vendor, conversation: report.conversation }
    reportResults(result, origin, { telemetry, ledger })
    const recorded = recordsFirst ? Promise.resolve() : record(result)
    return { body: result.body.length === 0 ? body : result.body, report, recorded }
  } catch (bug) {
    logger.error({ requestId, err: bug }, 'unexpected error')
    return untouched('failed')
  }
}

function rewriteOf({ reports }: Pick<Done, 'reports'>): RewriteReport | undefined {
  return reports.find(({ rewrite }) => rewrite !== undefined)?.rewrite
}

/**
 * Keeps the originals that markers of a body name. Returns whether all of them are there and stay.
 */
async function areKept(
  { keep, markers }: JobResult & { readonly ok: true },
  tenant: string,
  originals: Pick<Originals, 'keep' | 'renew'>,
): Promise<boolean> {
  const isKept = async (text: TextBytes) => {
    try {
      await originals.keep(tenant, text)
      return true
    } catch (error) {
      if (error instanceof AppError) return false
      throw error
    }
  }
  const attempts = [originals.renew(tenant, markers), ...keep.map(isKept)]
  return !(await Promise.all(attempts)).includes(false)
}

/** A generation for a job beside the newest. */
type KeptTerms = Pick<Job, 'kept' | 'lostGeneration'>

/** Runs a job once more with the generation that its conversation keeps, if its thread needs it. */
async function withGeneration(
  run: (kept: KeptTerms) => Promise<JobResult>,
  find: (id: string) => Promise<Generation | null>,
): Promise<JobResult> {
  const result = await run({})
  const needed = result.ok && result.reports.find(({ rewrite }) => rewrite?.needs_generation)
  const id = needed ? needed.rewrite?.needs_generation : undefined
  if (id === undefined) return result
  const kept = await find(id)
  return run(kept === null ? { lostGeneration: id } : { kept })
}

/** Recorded decisions, by their keys. */
export type Recalled = NonNullable<Job['recalled']>

export interface RecordKeeping {
  readonly tenant: string
  readonly rewrites: Pick<Rewrites, 'recall'>
  readonly memory: Pick<RewriteMemory, 'place' | 'confirm'>
  /** Called if the store did not answer in time: then the new decisions are used. */
  onUnrecorded(): void
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
