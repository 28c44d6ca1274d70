import { hash } from 'node:crypto'
import { type JsonNode, parseAt } from '../../json/bytes/json-node.ts'
import type { ScannedRequest } from './scan-request.ts'

const NAME_DIGITS = 16
/** Bytes of an opening that are read. Longer openings differ within these. */
const MAX_BYTES = 65_536

/**
 * Names a conversation by the texts that it opens with, up to the first message of a user: the same
 * in each of its turns, whether a client writes a text as a string or as a list of parts, and
 * wherever it puts cache breakpoints. Conversations that open alike have one name.
 * @returns 16 hex digits
 */
export function conversationName(scanned: ScannedRequest): string {
  const last = scanned.read[scanned.opening - 1]
  const name = (last && names.get(last)) ?? nameOf(scanned)
  if (last !== undefined) names.set(last, name)
  return name
}

/**
 * By the last message of the opening. A later turn has the node of a message only if all bytes up
 * to its end are the same (`KnownItems`).
 */
const names = new WeakMap<JsonNode, string>()

function nameOf({ body, messages, opening }: ScannedRequest): string {
  const texts: string[] = []
  let left = MAX_BYTES
  for (const { start, end } of messages.slice(0, opening)) {
    if (end - start > left) {
      texts.push(body.toString('utf8', start, start + left))
      break
    }
    left -= end - start
    collectTexts(parseAt(body, { start, end }), texts)
  }
  return hash('sha256', JSON.stringify(texts), 'hex').slice(0, NAME_DIGITS)
}

/** The texts of a message, in order: its content as a string, or the texts of its parts. */
function collectTexts(message: unknown, texts: string[]): void {
  const fields = Object(message) as Readonly<Record<string, unknown>>
  const { role, content = fields['parts'] } = fields
  texts.push(String(role))
  for (const part of Array.isArray(content) ? content : [content]) {
    const text: unknown = typeof part === 'string' ? part : Object(part).text
    if (typeof text === 'string') texts.push(text)
  }
}
