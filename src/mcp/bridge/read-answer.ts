import type { IncomingMessage } from 'node:http'
import { checkLargeJson } from '../../core/json/bytes/check-large-json.ts'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import type { Guard } from '../../proxy/guard.ts'
import { MessageIntake } from '../fronts/message-intake.ts'
import { type Message, readMessage } from '../json-rpc.ts'
import { isEventStream, readBody, readWhole } from '../upstream/http-exchange.ts'
import { SseReader } from '../upstream/sse-reader.ts'

/** Takes a message of the service, and its bytes. */
export type OnMessage = (message: Message, bytes: JsonBytes) => void

/** How a body ended. */
export interface AnswerEnd {
  /** The last event of a stream; `null` if it gave no id. */
  readonly lastId: string | null
  /** Whether any event came. */
  readonly hasEvents: boolean
  /** What came in place of messages, for example a problem document. */
  readonly text: string
}

/** Bytes of one message: more than the service sends. */
const MAX_MESSAGE_BYTES = 256 * 1024 * 1024
/** Characters of a text that is no message. */
const MAX_TEXT = 1_000

/** Reads the messages of an answer: one as JSON, or a stream of events. */
export async function readAnswer(
  answer: IncomingMessage,
  guard: Guard,
  onMessage: OnMessage,
): Promise<AnswerEnd> {
  if (isEventStream(answer)) return readEvents(answer, guard, onMessage)
  const body = await readWhole(answer, guard, MAX_MESSAGE_BYTES)
  if (typeof body === 'string') return { lastId: null, hasEvents: false, text: '' }
  await checkLargeJson(body)
  const message = readMessage(body)
  if (message !== null) onMessage(message, body)
  const text = message === null ? body.toString('utf8', 0, MAX_TEXT) : ''
  return { lastId: null, hasEvents: false, text }
}

async function readEvents(
  answer: IncomingMessage,
  guard: Guard,
  onMessage: OnMessage,
): Promise<AnswerEnd> {
  let hasEvents = false
  const read = (data: JsonBytes) => {
    const message = readMessage(data)
    if (message !== null) onMessage(message, data)
  }
  const intake = new MessageIntake(answer, guard.wrap(read))
  const reader = new SseReader(MAX_MESSAGE_BYTES, ({ data }) => {
    hasEvents = true
    if (data.length > 0) intake.take(data)
  })
  await readBody(answer, guard, chunk => reader.push(chunk))
  await intake.settled()
  return { lastId: reader.lastId, hasEvents, text: '' }
}
