import { createHash } from 'node:crypto'
import { isFields, mapTexts } from './message-texts.ts'

/**
 * Counts the texts after the last message of the assistant. A gateway sends a conversation again at
 * each turn; these texts are new in it.
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

/**
 * Identifies a conversation: SHA-256, hexadecimal, over its texts up to the first message of a
 * user.
 */
export function openingOf(messages: readonly unknown[]): string {
  const first = messages.findIndex(message => roleOf(message) === 'user')
  const opening = createHash('sha256')
  mapTexts(messages.slice(0, first + 1), ({ from, text }) => {
    opening.update(`${from} ${text.length} ${text}`)
    return text
  })
  return opening.digest('hex')
}

function roleOf(message: unknown): unknown {
  return isFields(message) ? message['role'] : undefined
}
