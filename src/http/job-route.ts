import type { z } from 'zod'
import { MEDIA_TYPES, type MediaType } from '../core/requests/envelope.ts'
import { AppError } from '../errors.ts'
import type { Ticket } from '../pool/admission.ts'
import type { Job, JobResult } from '../pool/job.ts'
import { announcedLength, readBody } from './body.ts'
import { type AppContext, type JobDeps, requestHeader } from './context.ts'
import { answerMedia, requestMedia } from './media.ts'
import { frameHeaders } from './middleware/observe.ts'
import type { Route, RouteScope } from './routes/route.ts'

interface JobRoute {
  readonly path: string
  /** Name of the operation that the worker runs. */
  readonly op: string
  readonly summary: string
  readonly scope: RouteScope
  readonly request: z.ZodType
  readonly answer: z.ZodType
}

/**
 * The route of an operation that a worker runs: claim a place, read the body once, hand it over, answer
 * the bytes that come back. The main thread never looks inside a body.
 */
export function jobRoute({ op, ...doc }: JobRoute): Route {
  return {
    method: 'post',
    ...doc,
    mount: (app, deps) => app.post(doc.path, c => serveJob(c, op, deps)),
  }
}

async function serveJob(c: AppContext, op: string, deps: JobDeps): Promise<Response> {
  const media = requestMedia(c)
  const announced = announcedLength(c, deps.maxBodyBytes)
  const ticket = deps.admission.enter(c.get('frame').caller, announced ?? 0)
  try {
    const body = await readBody(c, announced, deps.maxBodyBytes, ticket)
    const { pool, authority } = deps
    const job = toJob(c, op, media, body)
    const result = await (authority === undefined
      ? pool.run(job)
      : pool.runTwoPhase(job, authority))
    deps.metrics.job(op, result.queue_ms, result.work_ms)
    const response = respond(c, result, deps)
    leaveWhenRead(c, ticket, result.ok ? result.body.length : 0)
    return response
  } catch (error) {
    ticket.leave()
    throw error
  }
}

function toJob(c: AppContext, op: string, media: MediaType, body: Uint8Array): Job {
  const frame = c.get('frame')
  frame.bodyBytes = body.length
  const accept = answerMedia(requestHeader(c, 'accept'), media)
  const outgoing = c.env?.outgoing
  return {
    op,
    tenant: frame.caller.tenant,
    media,
    accept,
    body,
    requestId: frame.requestId,
    ...(outgoing === undefined ? {} : { abandoned: () => outgoing.destroyed }),
  }
}

/** Throws what the job failed with, so that all failures are rendered and counted in one place. */
function respond(c: AppContext, result: JobResult, { metrics }: JobDeps): Response {
  const frame = c.get('frame')
  frame.timing = { queue: result.queue_ms, work: result.work_ms }
  if (!result.ok) {
    const { code, detail, ...extras } = result.problem
    throw new AppError(code, detail, extras)
  }
  for (const report of result.reports) metrics.report(report)
  const headers = frameHeaders(c)
  headers['content-type'] = MEDIA_TYPES[result.media]
  frame.answerBytes = result.body.length
  return new Response(result.body as Uint8Array<ArrayBuffer>, { headers })
}

/** A client that does not read its answer keeps its place, so that unread answers are bounded too. */
function leaveWhenRead(c: AppContext, ticket: Ticket, answerBytes: number): void {
  const outgoing = c.env?.outgoing
  if (outgoing === undefined || outgoing.destroyed) {
    ticket.leave()
    return
  }
  ticket.add(answerBytes)
  outgoing.once('close', () => ticket.leave())
}
