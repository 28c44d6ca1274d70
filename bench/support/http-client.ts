import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'

/** Kept connections, one for each call under way. */
export const agent = new Agent({ keepAlive: true })

type Headers = Readonly<Record<string, string | number>>

export interface Answer {
  readonly status: number
  readonly body: Buffer
  /** Until its end, in milliseconds. */
  readonly ms: number
}

/**
 * Sends a body, and reads the answer to its end. A connection that the server had closed meanwhile
 * is replaced by a new one.
 */
export async function post(
  url: string,
  body: string | Uint8Array,
  more?: Headers,
): Promise<Answer> {
  const started = performance.now()
  const length = Buffer.byteLength(body)
  const headers = { 'content-type': 'application/json', 'content-length': length, ...more }
  const outgoing = request(url, { method: 'POST', agent, headers })
  outgoing.end(body)
  let answer: IncomingMessage
  try {
    ;[answer] = (await once(outgoing, 'response')) as [IncomingMessage]
  } catch (error) {
    if (!outgoing.reusedSocket) throw error
    return await post(url, body, more)
  }
  const bytes = await buffer(answer)
  return { status: answer.statusCode ?? 0, body: bytes, ms: performance.now() - started }
}

/** Milliseconds of a call. @throws {Error} for any status but 200 */
export async function timedCall(
  url: string,
  body: string | Uint8Array,
  headers?: Headers,
): Promise<number> {
  const { status, ms } = await post(url, body, headers)
  if (status !== 200) throw new Error(`answered ${status}`)
  return ms
}
