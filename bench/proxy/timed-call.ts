import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'

/** What a call took, in milliseconds from its start. */
export interface CallTimes {
  /** To the first byte of the answer's body. */
  readonly first: number
  readonly end: number
  /** What the service says that it added; 0 if it says nothing. */
  readonly said: number
}

/** Kept connections for one call at a time to each server. */
export const agent = new Agent({ keepAlive: true })

/**
 * Sends a body, and reads the answer to its end. A connection that the server had closed meanwhile is
 * replaced by a new one. Throws for any status but 200.
 */
export async function timedCall(
  url: string,
  body: Uint8Array,
  headers: Readonly<Record<string, string | number>> = {},
): Promise<CallTimes> {
  const started = performance.now()
  const outgoing = request(url, {
    method: 'POST',
    agent,
    headers: { 'content-length': body.length, ...headers },
  })
  outgoing.end(body)
  let answer: IncomingMessage
  try {
    ;[answer] = (await once(outgoing, 'response')) as [IncomingMessage]
  } catch (error) {
    if (!outgoing.reusedSocket) throw error
    return await timedCall(url, body, headers)
  }
  if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}`)
  let first = 0
  answer.on('data', () => {
    if (first === 0) first = performance.now() - started
  })
  await once(answer, 'end')
  const said = Number(answer.headers['x-haversack-added-ms'] ?? 0)
  return { first, end: performance.now() - started, said }
}
