import { agentSession } from '../../core/contract/savings.ts'
import type { AppContext } from '../context.ts'
import { requestHeader } from './request-header.ts'

/** Ours, and the one that Claude Code sends since 2.1.86. */
const HEADERS = ['x-haversack-session', 'x-claude-code-session-id'] as const

/**
 * Headers that only requests of sub-agents have, and values of them that say otherwise: of Claude
 * Code since 2.1.139, of Codex, which names what the request is for, and of OpenCode.
 */
const OF_SUB_AGENTS = [
  { name: 'x-claude-code-agent-id', not: /^\s*$/ },
  // Codex compacts the agent's own context.
  { name: 'x-openai-subagent', not: /^\s*(?:false|0|compact)?\s*$/i },
  { name: 'x-codex-parent-thread-id', not: /^\s*$/ },
  { name: 'x-parent-session-id', not: /^\s*$/ },
] as const

/** Whether a request is of a sub-agent, whose context is not that of the session. */
export function sidechainTerm(c: AppContext): { readonly isSidechain?: true } {
  const isOne = OF_SUB_AGENTS.some(({ name, not }) => !not.test(requestHeader(c, name) ?? ''))
  return isOne ? { isSidechain: true } : {}
}

/** The session that a request's headers name; nothing if they name none, or no id. */
export function sessionTerm(c: AppContext): { readonly session?: string } {
  for (const name of HEADERS) {
    const session = agentSession.safeParse(requestHeader(c, name)).data
    if (session !== undefined) return { session }
  }
  return {}
}
