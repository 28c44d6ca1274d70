import type { z } from 'zod'
import { AppError } from '../../core/base/errors.ts'
import { readEnvelope } from '../../core/contract/envelope.ts'
import { sessionField } from '../../core/contract/fields.ts'
import {
  compactionAnswer,
  dedupAnswer,
  dedupRequest,
  invalidateAnswer,
  invalidateRequest,
  sessionSummary,
} from '../../core/contract/sessions.ts'
import { validate } from '../../core/contract/validate.ts'
import { JOIN_SESSION } from '../../core/operations/join-session.ts'
import { invalidationsOf, type SessionDesk } from '../../core/operations/session-desk.ts'
import { IndexBusyError } from '../../core/sessions/index/lock.ts'
import { sessionOfContext } from '../../mcp/client/contexts/contexts.ts'
import type { Authority } from '../../pool/job.ts'
import { failureProblem } from '../../store/values/failure.ts'
import type { AppContext, AppDeps, JobDeps } from '../context.ts'
import { jobRoute } from '../jobs/job-route.ts'
import { announcedLength, readBody } from '../request/body.ts'
import { requestMedia } from '../request/media.ts'
import { smallAnswer } from '../response/answers.ts'
import type { Route } from './route.ts'

/** A list of names: read in place, since it takes microseconds. */
const MAX_BODY_BYTES = 65_536
const ENVELOPE = { maxDepth: 4, maxValues: 4_096 }

const PATH = '/v1/sessions/:id'

type SessionNeeds = Pick<AppDeps, 'desk' | 'admission' | 'originals' | 'book' | 'pool' | 'sharing'>

/** What a route does to the session that its path names; `null`: there is none. */
type Act = (
  desk: SessionDesk,
  name: { readonly tenant: string; readonly session: string },
  c: AppContext,
  needs: Omit<SessionNeeds, 'desk'>,
) => Promise<object | null>

export const SESSION_ROUTES: readonly Route<SessionNeeds & JobDeps>[] = [
  jobRoute({
    op: 'dedup',
    path: '/v1/dedup',
    summary: 'Whether a session has seen a result already; records it',
    scope: 'encode',
    request: dedupRequest,
    answer: dedupAnswer,
  }),
  route('get', PATH, 'What a session has seen and been sent', sessionSummary, {
    act: async (desk, { tenant, session }) => desk.summary(tenant, session),
  }),
  route('delete', PATH, 'Close a session: forget it, and what only it keeps', sessionSummary, {
    async act(desk, { tenant, session }, _, { originals, book, sharing }) {
      // What is shared ends first: if that fails, nothing has ended.
      if (sharing !== undefined) await originals.forget(tenant, session)
      const summary = desk.close(tenant, session)
      book?.ended(tenant, session)
      if (sharing === undefined) await originals.forget(tenant, session)
      return summary
    },
  }),
  route('post', `${PATH}/compaction`, "The agent's context was compacted", compactionAnswer, {
    async act(desk, { tenant, session }, c, { sharing }) {
      const shared = (await sharing?.compact(tenant, session)) ?? null
      // A context of MCP has a session of its own for each key.
      const ofContext = sessionOfContext(session, c.get('state').caller.keyId)
      const ended = ofContext === session ? null : desk.compact(tenant, ofContext)
      const partition = shared ?? desk.compact(tenant, session) ?? ended
      return partition === null ? null : { session, partition }
    },
  }),
  route('post', `${PATH}/invalidate`, 'Results of files or tools are stale', invalidateAnswer, {
    request: invalidateRequest,
    async act(desk, { tenant, session }, c, { admission, sharing }) {
      const what = validate(invalidateRequest, await readSmall(c, admission))
      const invalidated = desk.invalidate(tenant, session, what)
      if (invalidated === null) return null
      await sharing?.change(tenant, session, invalidationsOf(what))
      return { session, invalidated }
    },
  }),
]

function route(
  method: Route['method'],
  path: string,
  summary: string,
  answer: z.ZodType,
  { act, request }: { readonly act: Act; readonly request?: z.ZodType },
): Route<SessionNeeds> {
  return {
    method,
    path,
    summary,
    scope: 'encode',
    ...(request === undefined ? {} : { request }),
    answer,
    mount: (app, needs) =>
      app.on(method.toUpperCase(), path, async c => {
        if (needs.sharing !== undefined) await join(c, needs)
        return serve(c, act, needs)
      }),
  }
}

/**
 * Learns what other processes did in the session.
 * @throws AppError if that is unknown: then nothing was changed
 */
async function join(c: AppContext, { pool, sharing }: SessionNeeds): Promise<void> {
  const session = validate(sessionField, c.req.param('id'))
  const { requestId, caller } = c.get('state')
  const { tenant } = caller
  const job = { op: JOIN_SESSION, tenant, media: 'json', accept: 'json', requestId } as const
  const body = Buffer.from(JSON.stringify({ session }))
  const turns = sharing?.begin(tenant)
  const authority: Authority = {
    async resolve(lookups) {
      const [shared] = (await turns?.resolve(lookups, () => {})) ?? []
      if (shared === undefined) return [null]
      return [shared.ok ? { shared } : { problem: failureProblem(shared) }]
    },
  }
  const done = await pool.runTwoPhase({ ...job, body }, authority).finally(() => turns?.end())
  if (!done.ok) throw AppError.of(done.problem)
}

async function serve(c: AppContext, act: Act, needs: SessionNeeds): Promise<Response> {
  const session = validate(sessionField, c.req.param('id'))
  const { tenant } = c.get('state').caller
  const found = await unlessBusy(() => act(needs.desk, { tenant, session }, c, needs))
  if (found === null) throw new AppError('not_found', 'no such session is known')
  return smallAnswer(c, found)
}

/** The main thread does not wait for a lock. */
async function unlessBusy<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof IndexBusyError)) throw error
    throw new AppError('overloaded', 'the session is in use', { retry_after_s: 1 }, error)
  }
}

async function readSmall(c: AppContext, admission: SessionNeeds['admission']): Promise<unknown> {
  const announced = announcedLength(c, MAX_BODY_BYTES)
  const ticket = admission.enter(c.get('state').caller, announced ?? 0)
  try {
    const body = await readBody(c, announced, MAX_BODY_BYTES, ticket)
    return readEnvelope(body, requestMedia(c), ENVELOPE)
  } finally {
    ticket.leave()
  }
}
