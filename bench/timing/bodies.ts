import { createRandom } from '../../src/lab/bill/statistics.ts'
import { flatRows } from '../support/generated-results.ts'

/**
 * A request body of about so many bytes, another one for each seed, whose content nobody has sent
 * before.
 */
type MakeBody = (seed: number, bytes: number) => string

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

function base64(seed: number, chars: number): string {
  const random = createRandom(seed)
  return Array.from({ length: chars }, () => BASE64[random(64)]).join('')
}

export const base64Content: MakeBody = (seed, bytes) =>
  JSON.stringify({ content: base64(seed, bytes) })

export const rowsContent: MakeBody = (seed, bytes) =>
  JSON.stringify({ content: JSON.stringify(flatRows(bytes, seed)) })

const RESULT_BYTES = 8_000

/** A conversation of calls and their results. */
export const conversation: MakeBody = (seed, bytes) => {
  const messages = Array.from({ length: Math.ceil(bytes / RESULT_BYTES) }, (_, n) => {
    const content = JSON.stringify(flatRows(RESULT_BYTES - 300, seed * 1000 + n))
    const id = `call_${n}`
    return [
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'list', input: { n } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] },
    ]
  })
  const first = { role: 'user', content: 'Go on.' }
  return JSON.stringify({ model: 'claude-x', max_tokens: 9, messages: [first, ...messages.flat()] })
}
