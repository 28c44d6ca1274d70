import { freeBytes } from '../../core/base/byte-ranges.ts'
import { AppError } from '../../core/base/errors.ts'
import type { TextBytes } from '../../core/base/text-bytes.ts'
import type { RewriteReport } from '../../core/contract/operation-result.ts'
import type { RequestTerms } from '../../core/contract/request-terms.ts'
import { headersLetForget } from '../../core/conversation/forgetting/vendor-forgetting.ts'
import { billingVendor } from '../../core/conversation/usage/billing.ts'
import { rewriteOp } from '../../core/operations/rewrite-request.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { UntouchedReason } from '../../observability/proxy-metrics.ts'
import type { Done, Generation, Job, JobResult } from '../../pool/job.ts'
import type { WorkerPool } from '../../pool/pool.ts'
import type { Vendor } from '../../proxy/vendor-errors.ts'
import type { SentRequest } from '../../savings/entry-of.ts'
import type { Savings } from '../../savings/savings.ts'
import { type Originals, type Stay, worstOf } from '../../store/originals.ts'
import type { RecordedBefore } from '../../store/rewrites.ts'
import { type AppContext, type JobDeps, type Rewriting, requestHeader } from '../context.ts'
import { reportResults } from '../jobs/report-results.ts'
import { sessionTerm, sidechainTerm } from '../request/agent-session.ts'
import { projectTerm } from '../request/project-of.ts'
import { readingTerm } from '../request/reading.ts'
import { responseBudgetTerm } from '../request/response-budget.ts'
import { countBeside } from './count-beside.ts'
import { withoutKnownResults } from './known-results.ts'
import type { PromptWarnings } from './prompt-warnings.ts'
import type { RewritableBody } from './rewritable-request.ts'
import { type Recalled, type RecordKeeping, recordDecisions, runByRecord } from './run-by-record.ts'
import { type Pass, runPasses } from './run-passes.ts'

/** A body that was read, and what it is. */
export interface ReadBody extends RewritableBody {
  readonly vendor: Vendor
  readonly body: Uint8Array
  /** Whether its upstream may drop parts of a prompt by itself. */
  readonly forgets: boolean
  /** The name of the conversation that a request continues, if more than the body tells it. */
  readonly conversationOf?: (report: RewriteReport) => string | undefined
  /** Whether calls of our own tool in the answer can be answered. */
  readonly redeems?: boolean
  /** See `RequestTerms`. */
  readonly placesAt?: string | undefined
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
  /** Frees the memory of `body`; called when it was sent and the rewrites are recorded. */
  readonly free?: () => void
}

export interface RunNeeds extends Pick<JobDeps, 'telemetry' | 'ledger'> {
  readonly pool: Pick<WorkerPool, 'run'>
  readonly metrics: Pick<Metrics, 'job' | 'proxy' | 'report'>
  readonly logger: Pick<Logger, 'error'>
  readonly originals: Pick<Originals, 'keep' | 'renew'>
  readonly warnings: PromptWarnings
  readonly savings: Pick<Savings, 'record' | 'recordResults' | 'noteRefused'>
}

/** A request whose own tools fetch originals may have markers. */
const ELIDING: RequestTerms = { redeems: true, bypass: false }
const LOSSLESS: RequestTerms = { redeems: false, bypass: false }

/**
 * Returns a body as a worker rewrites it. Earlier rewrites are repeated as recorded, and markers
 * are only for originals that are durable. If the time runs out, results that are new stay as they
 * are, and earlier ones are still repeated: so the conversation's prefix stays. Returns the body
 * itself if that fails or changes nothing. Never rejects.
 */
export async function runRewrite(
  c: AppContext,
  read: ReadBody,
  rewriting: Rewriting,
  { pool, metrics, logger, originals, savings, telemetry, ledger, warnings }: RunNeeds,
): Promise<RewrittenBody> {
  const { vendor, shape, body, conversationOf } = read
  const { rewrites, memory, generations, arms, timeoutMs } = rewriting
  const state = c.get('state')
  const { requestId, caller } = state
  const { tenant } = caller
  const op = rewriteOp(shape)
  const ofRequest = termsOf(c, read, rewriting)
  /** The first run sees what changed; those after it compare the request with itself. */
  let change: RewriteReport['head_change']
  const job = {
    ...{ op, tenant, ...projectTerm(c) },
    media: 'json',
    accept: 'json',
    body,
    retained: true,
    isTurn: true,
    requestId,
  } as const
  const isGone = () => c.env.outgoing?.destroyed === true

  async function run(terms: RequestTerms, recalled: Recalled, pass: Pass): Promise<JobResult> {
    const now = {
      ...{ ...job, ...drawn.job, ...pass.job, limitMs: pass.limitMs, recalled },
      terms: { ...terms, ...ofRequest, newUntil: pass.newUntil },
      abandoned: pass.bounds.isOver,
    }
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

  const wish = { ...responseBudgetTerm(c), ...readingTerm(c) }
  const keeping = {
    ...{ tenant, rewrites, memory, generations },
    onUnrecorded: () => metrics.proxy.unrecorded(vendor),
  }
  let drawn: Drawn = { terms: {}, job: {} }

  /** Runs a rewrite whose markers are only for originals that are durable. */
  async function runWithOriginals(pass: Pass): Promise<JobResult> {
    /** Whether the originals are there that the markers of the last run name. */
    let areThere: Promise<Stay> = Promise.resolve('stay')
    const bounded = { ...keeping, bounds: pass.bounds }
    const runByTheRecord = (terms: RequestTerms) =>
      runByRecord(async (recalled, more, ahead) => {
        const all = { ...terms, ...again, ...more, ...wish, ...drawn.terms }
        const result = await run(all, recalled, { ...pass, job: ahead })
        // They travel with the decisions that name them.
        areThere = keptInTime(result, originals, bounded)
        // A run that is not the last one is not waited for.
        areThere.catch(() => {})
        return result
      }, bounded)
    const again = rewrites.mayHaveLost === true ? { recordsAgain: true as const } : {}
    if (arms !== undefined) drawn = await drawArm(c, arms)
    const result = await runByTheRecord(ELIDING)
    let stay = await areThere
    if (stay === 'stay') return result
    const isOwn = rewrites.waits === undefined
    if (stay === 'gone' || isOwn) {
      // Their texts are in the request.
      const restored = await runByTheRecord({ ...ELIDING, restores: true })
      stay = await areThere
      if (stay === 'stay') return restored
      if (stay === 'gone' || isOwn) return runByTheRecord(LOSSLESS)
    }
    return withoutEarlier(await run({ ...LOSSLESS, ...again, ...wish, ...drawn.terms }, {}, pass))
  }

  function untouched(reason: UntouchedReason): RewrittenBody {
    metrics.proxy.untouched(vendor, reason)
    return { body, untouched: reason }
  }

  try {
    const result = await runPasses(runWithOriginals, { timeoutMs, isGone })
    if (result === null || !result.ok) {
      return untouched(result?.problem.code === 'overloaded' ? 'overloaded' : 'failed')
    }
    const own = rewriteOf(result)
    if (own?.readable !== true) return untouched('unreadable')
    for (const each of eachChange(change)) {
      warnings.changed(tenant, each)
      metrics.proxy.promptChange(vendor, each)
    }
    const report = namedBy({ ...own, ...(change && { head_change: change }) }, conversationOf)
    const recordOnce = () => recordDecisions(result, keeping)
    const { held_out: beside } = report
    if (beside !== undefined) {
      const terms = { ...ELIDING, ...wish, ...ofRequest, beside }
      const whole = { ...job, limitMs: timeoutMs, terms }
      arms?.beside(() => countBeside(whole, keeping, { pool, arms }))
      return { ...untouched('held_out'), report, recorded: recordOnce() }
    }
    metrics.proxy.rewrite(vendor, report)
    for (const each of result.reports) metrics.report(each)
    arms?.record(tenant, result.reports)
    const origin = { tenant, source: vendor, conversation: report.conversation }
    reportResults(result, origin, { telemetry, ledger })
    const recorded = recordOnce()
    const of = { vendor: billingVendor(vendor, shape, read.model), report, ...sessionTerm(c) }
    countResults(tenant, of, { result, recorded, savings })
    return { ...leaving(body, result), report, recorded }
  } catch (bug) {
    logger.error({ requestId, err: bug }, 'unexpected error')
    return untouched('failed')
  }
}

/** What is known of a request beside its body. */
function termsOf(
  c: AppContext,
  { vendor, shape, model, coding, countsOnly, forgets, redeems, placesAt }: ReadBody,
  { maxBytes, addsTool, cacheLives }: Rewriting,
): Partial<RequestTerms> {
  const { keyId } = c.get('state').caller
  const mayForget = forgets || headersLetForget(name => requestHeader(c, name))
  return {
    ...(keyId === '' ? {} : { key: keyId }),
    ...(coding === undefined ? {} : { compressed: { coding, maxBytes } }),
    ...(model && { model }),
    ...(countsOnly && { countsOnly }),
    // Nothing can be taken out of a compressed body again.
    ...(placesAt !== undefined && coding === undefined && { placesAt }),
    ...(mayForget && { forgets: true }),
    ...(cacheLives && { cacheLives: cacheLives(billingVendor(vendor, shape, model)) }),
    ...sidechainTerm(c),
    ...(redeems === true && addsTool() && { addsTool: true }),
  }
}

/** A report with the name of the conversation, if more than the body tells it. */
function namedBy(own: RewriteReport, conversationOf: ReadBody['conversationOf']): RewriteReport {
  const conversation = conversationOf?.(own)
  return conversation === undefined ? own : { ...own, conversation }
}

/** What an arm is drawn with, and how its job runs. */
interface Drawn {
  readonly terms: Pick<RequestTerms, 'arms'>
  readonly job: Pick<Job, 'isPaused'>
}

/** If it may be held out, nothing is rewritten that was not sent before. */
async function drawArm(c: AppContext, arms: NonNullable<Rewriting['arms']>): Promise<Drawn> {
  const terms = await arms.terms(c.get('state').caller.tenant)
  if (terms === 'unknown') return { terms: {}, job: { isPaused: true } }
  return { terms: terms === null ? {} : { arms: { ...terms, ...sessionTerm(c) } }, job: {} }
}

/** What leaves in place of a body, which is not needed any more if that is another one. */
function leaving(body: Uint8Array, result: Done): Pick<RewrittenBody, 'body' | 'free'> {
  if (result.body.length === 0) return { body, free: () => freeBytes(body) }
  freeBytes(body)
  return { body: result.body, ...(result.free && { free: result.free }) }
}

/**
 * Records only what is new. Other processes repeat what is recorded of earlier results, and so does
 * this one once the store is heard.
 */
function withoutEarlier(result: JobResult): JobResult {
  if (!result.ok) return result
  return { ...result, records: result.records.filter(({ isEarlier }) => isEarlier !== true) }
}

function rewriteOf({ reports }: Pick<Done, 'reports'>): RewriteReport | undefined {
  return reports.find(({ rewrite }) => rewrite !== undefined)?.rewrite
}

interface ResultsToCount {
  readonly result: Done
  readonly recorded: Promise<RecordedBefore>
  readonly savings: Pick<Savings, 'recordResults'>
}

/** Accounts for the results that no other request recorded first, so that each is counted once. */
function countResults(
  tenant: string,
  of: SentRequest,
  { result, recorded, savings }: ResultsToCount,
): void {
  if (of.report.fresh === undefined) return
  const sent = recorded.then(before => {
    const reports = withoutKnownResults(result.reports, key => before.has(key))
    return { ...of, report: { ...of.report, fresh: rewriteOf({ reports })?.fresh } }
  })
  void savings.recordResults(tenant, sent)
}

/** Keeps the originals that markers of a body name. Returns whether all of them are there. */
async function areKept(
  { keep, markers }: Done,
  tenant: string,
  originals: Pick<Originals, 'keep' | 'renew'>,
): Promise<Stay> {
  const keepOne = async (text: TextBytes): Promise<Stay> => {
    try {
      await originals.keep(tenant, text)
      return 'stay'
    } catch (error) {
      if (error instanceof AppError) return error.code === 'overloaded' ? 'unheard' : 'gone'
      throw error
    }
  }
  return worstOf(await Promise.all([originals.renew(tenant, markers), ...keep.map(keepOne)]))
}

/** The same for a result. Waits for a store that is shared and is not heard. */
async function keptInTime(
  result: JobResult,
  originals: Pick<Originals, 'keep' | 'renew'>,
  { tenant, rewrites, bounds }: Pick<RecordKeeping, 'tenant' | 'rewrites' | 'bounds'>,
): Promise<Stay> {
  if (!result.ok) return 'stay'
  const { markers, records } = result
  const ask = () => areKept(result, tenant, originals)
  const isEarlier = markers.length > 0 || records.some(each => each.isEarlier === true)
  const isHeard = (stay: Stay) => stay !== 'unheard'
  return rewrites.waits?.hear({ ask, isHeard, isEarlier, bounds }) ?? ask()
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

type PromptChange = NonNullable<RewriteReport['head_change']>

/** The change, and the other kinds that came with it. */
function eachChange(change: PromptChange | undefined): readonly PromptChange[] {
  if (change === undefined) return []
  const { also = [], ...first } = change
  return [first, ...also.map(each => ({ ...each, scope: first.scope }))]
}
