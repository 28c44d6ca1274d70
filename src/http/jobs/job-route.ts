import type { z } from 'zod'
import { AppError } from '../../core/base/errors.ts'
import type { MediaType } from '../../core/contract/envelope.ts'
import type { RequestTerms } from '../../core/contract/request-terms.ts'
import type { Ticket } from '../../pool/admission.ts'
import type { Authority, Done, Job } from '../../pool/job.ts'
import type { SharedTurns } from '../../store/sharing/shared-turns.ts'
import type { Kept } from '../../store/store.ts'
import { commitAnswer, commitOrNull } from '../../store/values/commit-answer.ts'
import type { AppContext, JobDeps } from '../context.ts'
import { createIds } from '../middleware/observe.ts'
import { announcedLength, readBody } from '../request/body.ts'
import { answerMedia, requestMedia } from '../request/media.ts'
import { originOf } from '../request/origin-of.ts'
import { requestHeader } from '../request/request-header.ts'
import { projectTerm } from '../request/request-terms.ts'
import { leaveWhenRead, respond, type Written } from '../response/answers.ts'
import type { Route, RouteScope } from '../routes/route.ts'
import { answerQuestions } from './questions.ts'
import { reportResults } from './report-results.ts'

/** A row of the table of operations. */
export interface JobRoute {
  readonly path: string
  /** Name of the operation that the worker runs. */
  readonly op: string
  readonly summary: string
  readonly scope: RouteScope
  readonly request: z.ZodType
  readonly answer: z.ZodType
  /** Writes the answer from what was kept, instead of what the worker wrote. */
  kept?(kept: readonly Kept[], accept: MediaType): Written
  /** What the request states beside its body, if the operation asks. */
  terms?(c: AppContext, deps: JobDeps): RequestTerms
}

/** How the jobs of a route differ from those of others. */
interface JobWays {
  readonly op: string
  readonly kept: JobRoute['kept'] | undefined
  readonly terms: JobRoute['terms'] | undefined
  /** Names each job. */
  nextAttempt(): string
}

/**
 * The route of an operation that a worker runs. It claims a place, reads the body once, passes it
 * to a worker, keeps what must be kept, and answers with the bytes that come back. The main thread
 * never looks inside a body.
 */
export function jobRoute({ op, kept, terms, ...doc }: JobRoute): Route<JobDeps> {
  const ways: JobWays = { op, kept, terms, nextAttempt: createIds() }
  return {
    method: 'post',
    ...doc,
    mount: (app, deps) => app.post(doc.path, c => serveJob(c, ways, deps)),
  }
}

const HOOK = /^haversack-hook-([\w-]+)$/

async function serveJob(c: AppContext, ways: JobWays, deps: JobDeps): Promise<Response> {
  const { op, kept } = ways
  const { caller } = c.get('state')
  const media = requestMedia(c)
  const announced = announcedLength(c, deps.maxBodyBytes)
  const ticket = deps.admission.enter(caller, announced ?? 0, op)
  try {
    const body = await readBody(c, announced, deps.maxBodyBytes, ticket)
    const job = toJob(c, ways, { media, body }, deps)
    const { result, keptNow } = await answerDurably(c, job, ticket, deps)
    const { agent, client, project } = originOf(c)
    // The hook of an agent says whose it is.
    const ofHook = HOOK.exec(client ?? '')?.[1]
    const origin = { project, agent: ofHook ?? agent, client }
    const source = ofHook === undefined ? {} : { source: 'hook' }
    const { metrics, book } = deps
    // Only proxies draw arms.
    reportResults(result, { tenant: caller.tenant, origin, ...source }, { metrics, book })
    const written = kept?.(keptNow, job.accept) ?? { media: result.media, bytes: result.body }
    const response = respond(c, written)
    leaveWhenRead(c, ticket, written.bytes.length, written.bytes.length)
    return response
  } catch (error) {
    ticket.leave()
    throw error
  }
}

function questionsOf(tenant: string, ticket: Ticket, deps: JobDeps, sharing?: SharedTurns) {
  let claimed = 0
  return answerQuestions({
    originals: deps.originals,
    tenant,
    claim(bytes) {
      claimed += bytes
      // Inputs count as if they had come in the body.
      if (claimed > deps.maxBodyBytes) {
        throw new AppError('payload_too_large', `the inputs are above ${deps.maxBodyBytes} bytes`)
      }
      ticket.grow(bytes)
    },
    sharing,
  })
}

function toJob(
  c: AppContext,
  { op, terms, nextAttempt }: JobWays,
  { media, body }: Pick<Job, 'media' | 'body'>,
  deps: JobDeps,
): Job {
  const state = c.get('state')
  state.bodyBytes = body.length
  const accept = answerMedia(requestHeader(c, 'accept'), media)
  const outgoing = c.env?.outgoing
  return {
    op,
    tenant: state.caller.tenant,
    ...projectTerm(c),
    media,
    accept,
    body,
    requestId: state.requestId,
    attempt: nextAttempt(),
    ...(terms && { terms: terms(c, deps) }),
    ...(outgoing === undefined ? {} : { abandoned: () => outgoing.destroyed }),
  }
}

/**
 * Returns the answer once everything that it refers to is durable. If its references or its
 * omissions cannot be made true now, the job runs once more without them.
 */
async function answerDurably(c: AppContext, job: Job, ticket: Ticket, deps: JobDeps) {
  const sharing = deps.sharing?.begin(job.tenant)
  try {
    return await answerInTurn(c, job, ticket, deps, sharing)
  } finally {
    await sharing?.end()
  }
}

async function answerInTurn(
  c: AppContext,
  job: Job,
  ticket: Ticket,
  deps: JobDeps,
  sharing: SharedTurns | undefined,
) {
  const { tenant } = job
  const { originals, sessions } = deps
  const context = { originals, tenant, sessions, sharing }
  const result = await run(c, job, questionsOf(tenant, ticket, deps, sharing), deps)
  const commit = job.terms?.redeems === true ? commitOrNull : commitAnswer
  const keptNow = await commit(result, context)
  if (keptNow !== null) return { result, keptNow }
  deps.metrics.detached()
  const terms = job.terms && { terms: { ...job.terms, redeems: false } }
  const plain = { ...job, body: result.again ?? job.body, sessionless: true, ...terms } as const
  const other = await run(c, plain, questionsOf(tenant, ticket, deps), deps)
  const alone = { keep: other.keep, dependencies: other.dependencies }
  const apart = { originals, tenant, sessions }
  return { result: other, keptNow: (await commitAnswer(alone, apart)) ?? [] }
}

/** Runs a job, and notes where the time went. */
async function run(
  c: AppContext,
  job: Job,
  questions: Authority,
  { pool, metrics }: JobDeps,
): Promise<Done> {
  const result = await pool.runTwoPhase(job, questions)
  const { queue_ms, work_ms } = result
  c.get('state').timing = { queue: queue_ms, work: work_ms }
  metrics.job(job.op, queue_ms, work_ms)
  if (!result.ok) throw AppError.of(result.problem)
  return result
}
