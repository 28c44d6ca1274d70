import type { Pseudonyms } from '../telemetry/pseudonyms.ts'
import { withFacts } from '../telemetry/response-facts.ts'
import { mapTexts } from './message-texts.ts'
import { isFields } from './tool-calls.ts'

/** So much of a conversation's beginning names it, in UTF-16 code units. */
const MAX_OPENING = 65_536

/**
 * How many texts stand behind the last message of the assistant. A gateway sends a conversation again at each turn; these are
 * what is new in it.
 */
export function countNewTexts(messages: readonly unknown[]): number {
  const last = messages.findLastIndex(message => roleOf(message) === 'assistant')
  let count = 0
  mapTexts(messages.slice(last + 1), ({ text }) => {
    count++
    return text
  })
  return count
}

/** What telemetry is told, as of the conversation's session, which its messages up to the first of a user name. */
export function inSession(
  response: string,
  messages: readonly unknown[],
  telemetry: Pseudonyms,
): string {
  const first = messages.findIndex(message => roleOf(message) === 'user')
  const opening = JSON.stringify(messages.slice(0, first + 1)).slice(0, MAX_OPENING)
  return withFacts(response, { session_hash: telemetry.session(`opening ${opening}`) })
}

function roleOf(message: unknown): unknown {
  return isFields(message) ? message['role'] : undefined
}
