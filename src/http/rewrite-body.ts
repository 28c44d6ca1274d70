import type { IncomingMessage } from 'node:http'
import type { RouteName } from '../core/messages/scan-request.ts'
import type { FreshRecord } from '../core/operations/byte-operation.ts'
import type { RewriteReport } from '../core/operations/operation.ts'
import { rewriteOp } from '../core/operations/rewrite-request.ts'
import { AppError } from '../errors.ts'
import type { Ticket } from '../pool/admission.ts'
import type { Job, JobResult } from '../pool/job.ts'
import type { Vendor } from '../proxy/vendor-errors.ts'
import type { UntouchedReason } from '../proxy-metrics.ts'
import { createSink } from './body.ts'
import { isBypassed } from './bypass.ts'
import { type AppContext, type AppDeps, type Rewriting, requestHeader } from './context.ts'
import { rewritableAs } from './rewritable-request.ts'
import { takeBody } from './take-body.ts'

/** What is forwarded for the body of a request. */
export interface ForwardedBody {
  /** All of it; absent: as it comes in. */
  readonly body?: Uint8Array
  /** Holds the body's place until nobody needs the body any more. */
  readonly ticket?: Ticket
  /** Spent on waiting for the body, in milliseconds. */
  readonly readingMs: number
  /** The client was told to send its body. */
  readonly continued: boolean
  /** What was done to it. */
  readonly report?: RewriteReport
  /** Settled once it is on record how it was rewritten: the answer may not be complete before. */
  readonly recorded?: Promise<unknown>
  /** The request is paused, with what was read of its body put back. */
  readonly paused: boolean
}

const AS_IT_COMES: ForwardedBody = { readingMs: 0, continued: false, paused: false }

/**
 * Reads a body that can be rewritten, and lets a worker rewrite it. Whatever fails here, the client's own bytes are forwarded.
 * @throws AppError `invalid_request` for a body that breaks off
 */
export async function rewriteBody(
  c: AppContext,
  vendor: Vendor,
  path: string,
  deps: AppDeps,
): Promise<ForwardedBody> {
  const { incoming, rewriting, shape } = { ...deps, ...c.env, shape: rewritableAs(c, path) }
  if (shape === null || incoming === undefined || rewriting?.isOn() !== true || isBypassed(c)) {
    return AS_IT_COMES
  }
  const untouched = (reason: UntouchedReason) => deps.metrics.proxy.untouched(vendor, reason)
  const ticket = enter(c, rewriting.maxBytes, deps, untouched)
  if (ticket === null) return AS_IT_COMES
  try {
    const continued = c.env.awaitsContinue === true
    if (continued) c.env.outgoing?.writeContinue()
    const asked = performance.now()
    const sink = createSink(announced(c), rewriting.maxBytes, ticket)
    const taken = await takeBody(incoming as IncomingMessage, sink)
    const readingMs = performance.now() - asked
    if ('refusal' in taken) {
      untouched(reasonOf(taken.refusal))
      ticket.leave()
      return { readingMs, continued, paused: true }
    }
    const asItCame = { vendor, shape, body: taken.body }
    const rewritten = await runRewrite(c, asItCame, rewriting, deps)
    return { ...rewritten, ticket, readingMs, continued, paused: false }
  } catch (error) {
    ticket.leave()
    throw error
  }
}

function announced(c: AppContext): number | null {
  const length = requestHeader(c, 'content-length')
  return length === undefined ? null : Number(length)
}

/** A place for the body, if there is one. */
function enter(
  c: AppContext,
  maxBytes: number,
  { admission }: AppDeps,
  untouched: (reason: UntouchedReason) => void,
): Ticket | null {
  const length = announced(c) ?? 0
  if (length > maxBytes) {
    untouched('too_large')
    return null
  }
  try {
    return admission.enter(c.get('frame').caller, length)
  } catch (error) {
    untouched(reasonOf(error))
    return null
  }
}

/** Decisions on record, by their keys. */
type Recalled = NonNullable<Job['recalled']>

/** A body that was read, and what it is. */
interface ReadBody {
  readonly vendor: Vendor
  readonly shape: RouteName
  readonly body: Uint8Array
}

/** What a worker makes of a body, and what is on record of it; the body itself where it fails or changes nothing. */
async function runRewrite(
  c: AppContext,
  { vendor, shape, body }: ReadBody,
  { rewrites, memory }: Rewriting,
  { pool, metrics, logger }: AppDeps,
): Promise<Pick<ForwardedBody, 'body' | 'report' | 'recorded'>> {
  const frame = c.get('frame')
  const { requestId, caller } = frame
  const { tenant } = caller
  const op = rewriteOp(shape)
  const job = {
    op,
    tenant,
    media: 'json',
    accept: 'json',
    body,
    retained: true,
    requestId,
    abandoned: () => c.env.outgoing?.destroyed === true,
  } as const

  async function run(recalled?: Recalled): Promise<JobResult> {
    const result = await pool.run(recalled === undefined ? job : { ...job, recalled })
    frame.timing = { queue: result.queue_ms, work: result.work_ms }
    metrics.job(op, result.queue_ms, result.work_ms)
    return result
  }

  /** What was decided earlier holds, and then once more. */
  async function runByTheRecord(): Promise<JobResult> {
    const result = await run()
    if (!result.ok || result.records.length === 0) return result
    const recalled = await rewrites.recall(tenant, result.records)
    if (recalled === null) metrics.proxy.unrecorded(vendor)
    else if (Object.keys(recalled).length > 0) {
      const again = await run(recalled)
      if (again.ok) remember(recalled, again.records)
      return again
    }
    return result
  }

  /** Turns to come find what holds without asking for it. */
  function remember(recalled: Recalled, records: readonly FreshRecord[]): void {
    const replaced = new Set(records.map(({ key }) => key))
    for (const [key, bytes] of Object.entries(recalled)) {
      const position = replaced.has(key) ? null : memory.place(key, bytes)
      if (position !== null) memory.confirm(position)
    }
  }

  try {
    const result = await runByTheRecord()
    if (!result.ok) {
      const { code } = result.problem
      metrics.proxy.untouched(vendor, code === 'overloaded' ? 'overloaded' : 'failed')
      return { body }
    }
    const report = result.reports.find(({ rewrite }) => rewrite !== undefined)?.rewrite
    if (report?.readable !== true) {
      metrics.proxy.untouched(vendor, 'unreadable')
      return { body }
    }
    metrics.proxy.rewrite(vendor, report)
    const recorded = rewrites.record(tenant, result.records).then(overruled => {
      for (const { key, position } of result.records) {
        if (position !== null && !overruled.has(key)) memory.confirm(position)
      }
    })
    return { body: result.body.length === 0 ? body : result.body, report, recorded }
  } catch (bug) {
    logger.error({ requestId, err: bug }, 'unexpected error')
    metrics.proxy.untouched(vendor, 'failed')
    return { body }
  }
}

function reasonOf(error: unknown): UntouchedReason {
  if (!(error instanceof AppError)) throw error
  return error.code === 'payload_too_large' ? 'too_large' : 'overloaded'
}
