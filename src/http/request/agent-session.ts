import { agentSession } from '../../core/contract/savings.ts'
import { type AppContext, requestHeader } from '../context.ts'

/** Ours, and the one that Claude Code sends since 2.1.86. */
const HEADERS = ['x-haversack-session', 'x-claude-code-session-id'] as const

/** The session that a request's headers name; nothing if they name none, or no id. */
export function sessionTerm(c: AppContext): { readonly session?: string } {
  for (const name of HEADERS) {
    const session = agentSession.safeParse(requestHeader(c, name)).data
    if (session !== undefined) return { session }
  }
  return {}
}
