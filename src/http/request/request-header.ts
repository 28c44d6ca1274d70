import type { ForgettingHeader } from '../../core/dialects/forgetting/vendor-forgetting.ts'
import type { CHALLENGE_HEADER } from '../../runtime/service-proof.ts'
import type { AppContext } from '../context.ts'

/** Headers that are read at every request. */
type RequestHeader =
  | 'accept'
  | 'authorization'
  | 'content-encoding'
  | 'content-length'
  | 'content-type'
  | 'host'
  | 'if-none-match'
  | ForgettingHeader
  | 'origin'
  | 'traceparent'
  | 'transfer-encoding'
  | 'upgrade'
  | 'user-agent'
  | 'x-api-key'
  | 'x-claude-code-agent-id'
  | 'x-claude-code-session-id'
  | 'x-codex-parent-thread-id'
  | 'x-openai-subagent'
  | 'x-parent-session-id'
  | 'x-haversack-bypass'
  | typeof CHALLENGE_HEADER
  | 'x-haversack-key'
  | 'x-haversack-project'
  | 'x-haversack-reading'
  | 'x-haversack-response-budget'
  | 'x-haversack-session'
  | 'x-headroom-bypass'
  | 'x-request-id'

/**
 * A request header that is not a list. It reads Node's own table if there is one. The Fetch object
 * would search the raw headers for each lookup, which costs much at thousands of requests per
 * second.
 */
export function requestHeader(c: AppContext, name: RequestHeader): string | undefined {
  return headerNamed(c, name)
}

/** The same for a header that a dialect names. */
export function headerNamed(c: AppContext, name: string): string | undefined {
  const incoming = c.env?.incoming
  if (incoming === undefined) return c.req.header(name)
  const value = incoming.headers[name]
  return typeof value === 'string' ? value : undefined
}
