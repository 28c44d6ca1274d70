import type { IncomingMessage } from 'node:http'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import type { Guard } from '../../proxy/guard.ts'
import { MessageIntake } from '../fronts/message-intake.ts'
import { readMessage } from '../json-rpc.ts'
import { type Clock, pause } from './clock.ts'
import { type HttpEnd, isEventStream, readBody } from './http-exchange.ts'
import type { LinkEvents } from './link.ts'
import { SseReader } from './sse-reader.ts'

/** Where a stream was cut, and when another may go on. */
export interface StreamPosition {
  readonly lastId: string | null
  readonly retryMs: number | null
}

/** How a stream of events ended. */
export type StreamEnd = StreamPosition & {
  readonly kind: 'ended' | 'too large'
  /** Whether any event came. */
  readonly hasEvents: boolean
}

export interface StreamReading {
  readonly events: Pick<LinkEvents, 'onMessage' | 'onIgnored'>
  readonly guard: Guard
  /** The request whose stream it is; `null` if it is the stream for all else. */
  readonly callId: number | null
  readonly maxBytes: number
  /** Whether nothing more of the stream is wanted. */
  isDone(): boolean
  /** For HTTP+SSE: an event that names the address for messages. */
  onAddress?(address: JsonBytes): void
}

/** Reads the events of one answer, until it ends or nothing more is wanted. */
export async function readStream(
  answer: IncomingMessage,
  { events, guard, callId, maxBytes, isDone, onAddress }: StreamReading,
): Promise<StreamEnd> {
  let hasEvents = false
  let isWithinBound = true
  const read = (data: JsonBytes) => {
    if (isDone()) return
    const message = readMessage(data)
    if (message === null) events.onIgnored()
    else events.onMessage(message, callId)
  }
  const intake = new MessageIntake(answer, guard.wrap(read))
  const reader = new SseReader(maxBytes, ({ type, data }) => {
    hasEvents = true
    if (data.length === 0) return
    if (type === 'endpoint' && onAddress !== undefined) onAddress(data)
    else intake.take(data)
  })
  await readBody(answer, guard, chunk => {
    isWithinBound = reader.push(chunk)
    return isWithinBound && !isDone()
  })
  await intake.settled()
  const { lastId, retryMs } = reader
  return { kind: isWithinBound ? 'ended' : 'too large', lastId, retryMs, hasEvents }
}

/** What the stream of a GET can end with, if it is not wanted any more. */
export type FollowEnd =
  | 'done'
  | 'no session'
  | 'unreachable'
  | 'not served'
  /** Refused, but not as by a server that has no such streams. */
  | 'doubtful'
  | 'too large'

export interface Following extends StreamReading {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly from: StreamPosition
  /** Waits before the first attempt, as a stream does that continues an earlier one. */
  readonly isResumed: boolean
  /** Attempts in a row without an event, after which it is not served. */
  readonly mostAttempts: number
  get(lastId: string | null): Promise<HttpEnd>
}

const METHOD_NOT_ALLOWED = 405

const FIRST_WAIT_MS = 1000
/** A server that asks for no wait at all is still not asked in a tight loop. */
const SHORTEST_WAIT_MS = 100
const LONGEST_WAIT_MS = 30_000

/** Reads a stream by GET, and again from its last event whenever it is cut. */
export async function followStream(following: Following): Promise<FollowEnd> {
  const { clock, signal, mostAttempts } = following
  let { lastId, retryMs } = following.from
  let wait = following.isResumed ? (retryMs ?? FIRST_WAIT_MS) : null
  for (let attempts = 1; ; attempts++) {
    if (wait !== null) await pause(clock, bounded(wait), signal)
    if (signal.aborted || following.isDone()) return 'done'
    const end = await following.get(lastId)
    if (signal.aborted) return 'done'
    if (end.kind === 'refused') return 'not served'
    if (end.kind === 'failed' && !end.reached) return 'unreachable'
    const refusal = end.kind === 'head' ? refusalOf(end.answer) : null
    if (refusal !== null) return refusal
    if (end.kind === 'head' && end.answer.statusCode === 200) {
      const stream = await readStream(end.answer, following)
      if (stream.kind === 'too large') return 'too large'
      lastId = stream.lastId ?? lastId
      retryMs = stream.retryMs ?? retryMs
      if (stream.hasEvents) attempts = 0
    }
    if (attempts >= mostAttempts) return following.isDone() ? 'done' : 'not served'
    wait = (retryMs ?? FIRST_WAIT_MS) * 2 ** Math.min(Math.max(attempts - 1, 0), 10)
  }
}

function bounded(waitMs: number): number {
  return Math.min(Math.max(waitMs, SHORTEST_WAIT_MS), LONGEST_WAIT_MS)
}

/** Why an answer is no stream and never will be; `null` if it is one, or may be later. */
function refusalOf(answer: IncomingMessage): FollowEnd | null {
  const status = answer.statusCode ?? 0
  if (status === 200 && isEventStream(answer)) return null
  answer.destroy()
  if (status >= 500) return null
  if (status === 404) return 'no session'
  return status >= 400 && status !== METHOD_NOT_ALLOWED ? 'doubtful' : 'not served'
}
