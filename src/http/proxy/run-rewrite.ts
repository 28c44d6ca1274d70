import type { SentRequest } from '../../book/bill/answered-request.ts'
import type { Savings } from '../../book/bill/savings.ts'
import type { RewriteReport } from '../../core/contract/operation-result.ts'
import type { RequestTerms } from '../../core/contract/request-terms.ts'
import { billingVendor } from '../../core/conversation/usage/billing.ts'
import { headersLetForget } from '../../core/dialects/forgetting/vendor-forgetting.ts'
import type { VendorName } from '../../core/dialects/lookup.ts'
import { rewriteOp } from '../../core/operations/rewrite-op.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { UntouchedReason } from '../../observability/proxy-metrics.ts'
import type { Done, Job, JobResult } from '../../pool/job.ts'
import type { WorkerPool } from '../../pool/pool.ts'
import type { Originals, Stay } from '../../store/originals.ts'
import type { RecordedBefore } from '../../store/sharing/rewrites.ts'
import type { AppContext, JobDeps, Rewriting } from '../context.ts'
import { reportResults } from '../jobs/report-results.ts'
import { sessionTerm, sidechainTerm } from '../request/agent-session.ts'
import { originOf } from '../request/origin-of.ts'
import { requestHeader } from '../request/request-header.ts'
import { projectTerm, readingTerm, responseBudgetTerm } from '../request/request-terms.ts'
import { countBeside } from './count-beside.ts'
import { keptInTime } from './kept-in-time.ts'
import { withoutKnownResults } from './known-results.ts'
import { leaving, type RewrittenBody } from './leaving-body.ts'
import { lifeTerms } from './life-terms.ts'
import { eachChange, type PromptWarnings } from './prompt-warnings.ts'
import type { RewritableBody } from './rewritable-request.ts'
import { type Recalled, type RecordKeeping, recordDecisions, runByRecord } from './run-by-record.ts'
import { type Pass, runPasses } from './run-passes.ts'
import { withGeneration } from './with-generation.ts'

/** A body that was read, and what it is. */
export interface ReadBody extends RewritableBody {
  readonly vendor: VendorName
  readonly body: Uint8Array
  /** Whether its upstream may drop parts of a prompt by itself. */
  readonly forgets: boolean
  /** The name of the conversation that a request continues, if more than the body tells it. */
  readonly conversationOf?: (report: RewriteReport) => string | undefined
  /** Whether calls of our own tool in the answer can be answered. */
  readonly redeems?: boolean
  /** Whether its upstream is a service of ours. */
  readonly isPassedOn?: boolean
  /** See `RequestTerms`. */
  readonly placesAt?: string | undefined
}

export interface RunNeeds extends Pick<JobDeps, 'book'> {
  readonly pool: Pick<WorkerPool, 'run'>
  readonly metrics: Pick<Metrics, 'job' | 'proxy' | 'report'>
  readonly logger: Pick<Logger, 'error'>
  readonly originals: Pick<Originals, 'keep' | 'renew'>
  readonly warnings: PromptWarnings
  readonly savings: Pick<
    Savings,
    'record' | 'recordResults' | 'noteRefused' | 'advice' | 'agentTools'
  >
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
export function runRewrite(
  c: AppContext,
  read: ReadBody,
  rewriting: Rewriting,
  needs: RunNeeds,
): Promise<RewrittenBody> {
  return new RewriteRun(c, read, rewriting, needs).run()
}

/** The rewriting of one body, from its first pass to what leaves. */
class RewriteRun {
  readonly #c: AppContext
  readonly #read: ReadBody
  readonly #rewriting: Rewriting
  readonly #needs: RunNeeds
  readonly #tenant: string
  readonly #job: Omit<Job, 'limitMs' | 'terms'>
  /** What the request and its headers say; each run has it. */
  readonly #ofRequest: Partial<RequestTerms>
  readonly #wish: Partial<RequestTerms>
  readonly #keeping: Omit<RecordKeeping, 'bounds'>
  #drawn: Drawn = { terms: {}, job: {} }
  /** The first run sees what changed; those after it compare the request with itself. */
  #change: RewriteReport['head_change']

  constructor(c: AppContext, read: ReadBody, rewriting: Rewriting, needs: RunNeeds) {
    const { requestId, caller } = c.get('state')
    const { rewrites, memory, generations } = rewriting
    const { tenant } = caller
    this.#c = c
    this.#read = read
    this.#rewriting = rewriting
    this.#needs = needs
    this.#tenant = tenant
    this.#job = {
      op: rewriteOp(read.shape),
      tenant,
      ...projectTerm(c),
      media: 'json',
      accept: 'json',
      body: read.body,
      retained: true,
      isTurn: true,
      requestId,
    }
    this.#ofRequest = termsOf(c, read, rewriting, needs.savings)
    this.#wish = { ...responseBudgetTerm(c), ...readingTerm(c) }
    this.#keeping = {
      tenant,
      rewrites,
      memory,
      generations,
      onUnrecorded: () => needs.metrics.proxy.unrecorded(read.vendor),
    }
  }

  async run(): Promise<RewrittenBody> {
    const { timeoutMs } = this.#rewriting
    const isGone = () => this.#c.env.outgoing?.destroyed === true
    try {
      const result = await runPasses(pass => this.#runPass(pass), { timeoutMs, isGone })
      if (result === null || !result.ok) {
        return this.#untouched(result?.problem.code === 'overloaded' ? 'overloaded' : 'failed')
      }
      const own = rewriteOf(result)
      if (own?.readable !== true) return this.#untouched('unreadable')
      const change = this.#change
      this.#tellChanges(change)
      const report = namedBy(
        { ...own, ...(change && { head_change: change }) },
        this.#read.conversationOf,
      )
      return report.held_out === undefined
        ? this.#rewritten(result, report)
        : this.#heldOut(result, report, report.held_out)
    } catch (bug) {
      this.#needs.logger.error({ requestId: this.#job.requestId, err: bug }, 'unexpected error')
      return this.#untouched('failed')
    }
  }

  /** Runs a rewrite whose markers are only for originals that are durable. */
  async #runPass(pass: Pass): Promise<JobResult> {
    const { rewrites, arms } = this.#rewriting
    if (arms !== undefined) this.#drawn = await drawArm(this.#c, arms)
    const first = await this.#runByRecord(ELIDING, pass)
    let stay = await first.areThere
    if (stay === 'stay') return first.result
    const isOwn = rewrites.waits === undefined
    if (stay === 'gone' || isOwn) {
      // Their texts are in the request.
      const restored = await this.#runByRecord({ ...ELIDING, restores: true }, pass)
      stay = await restored.areThere
      if (stay === 'stay') return restored.result
      if (stay === 'gone' || isOwn) return (await this.#runByRecord(LOSSLESS, pass)).result
    }
    return withoutEarlier(await this.#runJob(this.#termsOf(LOSSLESS), {}, pass))
  }

  /** `areThere`: whether the originals are there that the markers of the last run name. */
  async #runByRecord(
    terms: RequestTerms,
    pass: Pass,
  ): Promise<{ readonly result: JobResult; readonly areThere: Promise<Stay> }> {
    let areThere: Promise<Stay> = Promise.resolve('stay')
    const bounded = { ...this.#keeping, bounds: pass.bounds }
    const result = await runByRecord(async (recalled, more, ahead) => {
      const all = { ...this.#termsOf(terms), ...more }
      const ran = await this.#runJob(all, recalled, { ...pass, job: ahead })
      // They travel with the decisions that name them.
      areThere = keptInTime(ran, this.#needs.originals, bounded)
      // A run that is not the last one is not waited for.
      areThere.catch(() => {})
      return ran
    }, bounded)
    return { result, areThere }
  }

  #termsOf(terms: RequestTerms): RequestTerms {
    return {
      ...terms,
      ...(this.#rewriting.rewrites.mayHaveLost === true && { recordsAgain: true as const }),
      ...this.#wish,
      ...this.#drawn.terms,
    }
  }

  #runJob(terms: RequestTerms, recalled: Recalled, pass: Pass): Promise<JobResult> {
    const { pool, metrics } = this.#needs
    const state = this.#c.get('state')
    const job = {
      ...this.#job,
      ...this.#drawn.job,
      ...pass.job,
      limitMs: pass.limitMs,
      recalled,
      terms: { ...terms, ...this.#ofRequest, newUntil: pass.newUntil },
      abandoned: pass.bounds.isOver,
    }
    return withGeneration(
      async kept => {
        const result = await pool.run({ ...job, ...kept })
        state.timing = { queue: result.queue_ms, work: result.work_ms }
        metrics.job(job.op, result.queue_ms, result.work_ms)
        if (result.ok) this.#change ??= rewriteOf(result)?.head_change
        return result
      },
      id => this.#rewriting.generations.find(this.#tenant, id),
    )
  }

  #tellChanges(change: RewriteReport['head_change']): void {
    const { metrics, warnings } = this.#needs
    for (const each of eachChange(change)) {
      warnings.changed(this.#tenant, each)
      metrics.proxy.promptChange(this.#read.vendor, each)
    }
  }

  /** The client's own body leaves; what ours would have been is counted beside it. */
  #heldOut(
    result: Done,
    report: RewriteReport,
    beside: NonNullable<RewriteReport['held_out']>,
  ): RewrittenBody {
    const { arms, timeoutMs } = this.#rewriting
    const terms = { ...ELIDING, ...this.#wish, ...this.#ofRequest, beside }
    const whole = { ...this.#job, limitMs: timeoutMs, terms }
    arms?.beside(() => countBeside(whole, this.#keeping, { pool: this.#needs.pool, arms }))
    const recorded = recordDecisions(result, this.#keeping)
    return { ...this.#untouched('held_out'), report, recorded }
  }

  #rewritten(result: Done, report: RewriteReport): RewrittenBody {
    const { metrics, savings, book } = this.#needs
    const { vendor, shape, model, body, isPassedOn } = this.#read
    const tenant = this.#tenant
    metrics.proxy.rewrite(vendor, report)
    const of = { model: report.model ?? model, origin: originOf(this.#c), isPassedOn }
    const origin = { tenant, source: vendor, conversation: report.conversation, ...of }
    reportResults(result, origin, { metrics, book, arms: this.#rewriting.arms })
    const recorded = recordDecisions(result, this.#keeping)
    const sent = { vendor: billingVendor(vendor, shape, model), report, ...sessionTerm(this.#c) }
    countResults(tenant, sent, { result, recorded, savings })
    return { ...leaving(body, result, report), report, recorded }
  }

  #untouched(reason: UntouchedReason): RewrittenBody {
    this.#needs.metrics.proxy.untouched(this.#read.vendor, reason)
    return { body: this.#read.body, untouched: reason }
  }
}

/** What is known of a request beside its body. */
function termsOf(
  c: AppContext,
  { vendor, shape, model, coding, countsOnly, forgets, redeems, placesAt }: ReadBody,
  { maxBytes, addsTool, cacheLives, clearing }: Rewriting,
  savings: Pick<Savings, 'advice' | 'agentTools'>,
): Partial<RequestTerms> {
  const { keyId, tenant } = c.get('state').caller
  const mayForget = forgets || headersLetForget(name => requestHeader(c, name))
  return {
    ...(keyId === '' ? {} : { key: keyId }),
    ...(coding === undefined ? {} : { compressed: { coding, maxBytes } }),
    ...(model && { model }),
    ...(countsOnly && { countsOnly }),
    // Nothing can be taken out of a compressed body again.
    ...(placesAt !== undefined &&
      coding === undefined && { placesAt, ...toolTerm(tenant, savings) }),
    ...lifeTerms(c, vendor, savings),
    ...(mayForget && { forgets: true }),
    ...(cacheLives && { cacheLives: cacheLives(billingVendor(vendor, shape, model)) }),
    ...(clearing && { clearing }),
    ...sidechainTerm(c),
    ...(redeems === true && addsTool() && { addsTool: true }),
  }
}

function toolTerm(tenant: string, savings: Pick<Savings, 'agentTools'>) {
  const agentTools = savings.agentTools(tenant)
  return agentTools && { agentTools }
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
