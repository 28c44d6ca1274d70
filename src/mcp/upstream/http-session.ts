import type { IncomingMessage } from 'node:http'
import { type Message, writeRequest } from '../json-rpc.ts'

/** The session that a legacy server opened. An id is visible ASCII; anything else is none. */
export function sessionOf(answer: IncomingMessage): string | null {
  const id = answer.headers['mcp-session-id']
  return typeof id === 'string' && /^[\x21-\x7e]{1,1024}$/.test(id) ? id : null
}

/**
 * What an answer means for the session that its request named. `gone`: the server does not know it,
 * and has not run the request. `doubtful`: a `ping` must show whether it does.
 */
export type SessionState = 'known' | 'gone' | 'doubtful'

/** What a server is asked if it is doubtful whether it knows the session, and for how long. */
export const PING = writeRequest(Buffer.from('"haversack-probe"'), 'ping', null)
export const PROBE_MS = 5_000

const TOO_MANY = 429

/**
 * | answer | session |
 * |---|---|
 * | 404 | gone |
 * | 400 with an error of its own about a session, as many servers copied it | gone |
 * | an error about a session or the handshake, of any status | doubtful |
 * | another message of JSON-RPC, of any status | known |
 * | 429 | known |
 * | anything else: 401, 403, 5xx, a page of HTML | doubtful |
 *
 * @param message the body; `null` if it is none
 */
export function sessionStateOf(status: number, message: Message | null): SessionState {
  if (status === 404) return 'gone'
  const error = errorOf(message)
  if (error !== null && /\bsession\b|not initialized/i.test(error.text)) {
    const isForgotten =
      status === 400 && error.isAnonymous && /"code"\s*:\s*-32000\b/.test(error.text)
    return isForgotten ? 'gone' : 'doubtful'
  }
  return message !== null || status === TOO_MANY ? 'known' : 'doubtful'
}

/** Characters of an error that are looked at. */
const MOST_CHARS = 4096

function errorOf(message: Message | null) {
  if (message?.kind !== 'response' || message.outcome.kind !== 'error') return null
  const text = message.outcome.error.toString('latin1', 0, MOST_CHARS)
  return { text, isAnonymous: message.id === null }
}
