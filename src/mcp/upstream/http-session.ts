import type { IncomingMessage } from 'node:http'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { readMessage } from '../json-rpc.ts'

/** The session that a legacy server opened. An id is visible ASCII; anything else is none. */
export function sessionOf(answer: IncomingMessage): string | null {
  const id = answer.headers['mcp-session-id']
  return typeof id === 'string' && /^[\x21-\x7e]{1,1024}$/.test(id) ? id : null
}

/**
 * Whether a 400 means that the server does not know our session: it was started again. It should
 * answer 404, but many servers copied an example that answers this way.
 */
export function isForgotten(status: number, body: JsonBytes): boolean {
  if (status !== 400) return false
  const message = readMessage(body)
  if (message?.kind !== 'response' || message.id !== null) return false
  const { outcome } = message
  if (outcome.kind !== 'error') return false
  const error = outcome.error.toString('latin1')
  return /"code"\s*:\s*-32000\b/.test(error) && /\bsession\b|not initialized/i.test(error)
}
