import { z } from 'zod'
import { AppError } from '../base/errors.ts'
import { sessionField } from '../contract/fields.ts'
import type { Operation } from './operation.ts'
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
    if (problem !== undefined) throw AppError.of(problem)
    return inSharedSession(asked, context, () => ({ answer: {}, reports: [] }))
  },
}
