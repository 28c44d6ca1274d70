import { z } from 'zod'
import { AppError } from '../base/errors.ts'
import { sessionField } from '../contract/fields.ts'
import type { Done } from '../contract/operation-result.ts'
import { sessionKey } from '../sessions/index/session-index.ts'
import type { Operation, OperationContext } from './operation.ts'
import { inSharedSession } from './shared-session.ts'

const request = z.strictObject({ session: sessionField })
const answer = z.strictObject({})

/** The name of the operation, for the pool. */
export const JOIN_SESSION = 'join_session'

/** Makes a session what the processes know of it that share it, before something asks for it. */
export const joinSessionOperation: Operation<z.output<typeof request>, object> = {
  name: JOIN_SESSION,
  request,
  answer,
  lookups: ({ session }) => [{ session: { session, isCounted: false } }],
  run(asked, context) {
    const problem = context.resolutions?.[0]?.problem
    if (problem?.code === 'not_found') return forget(asked.session, context)
    if (problem !== undefined) throw AppError.of(problem)
    return inSharedSession(asked, context, () => ({ answer: {}, reports: [] }))
  },
}

/** What this process has of a session that has ended for all is not true any more. */
function forget(session: string, { sessions }: OperationContext): Done<object> {
  if (sessions !== undefined) {
    const key = sessionKey(sessions.tenant, session)
    if (sessions.index.present(key)?.isShared) sessions.index.close(key)
  }
  return { answer: {}, reports: [] }
}
